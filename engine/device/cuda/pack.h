/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CUDA_PACK_H
#define DPARTUI_ENGINE_DEVICE_CUDA_PACK_H

#include <stddef.h>

#include "engine/device/cuda/bf16.h"
#include "engine/device/cuda/launch.h"

/*
 * A pack is 8 neighbouring channels of a pixel: what a thread reads and writes at once, by accesses
 * of 16 bytes. Tensors of TYPE_BF16 are arrays of uint16_t here, others of float.
 */
enum { PACK = 8 };

/* As it lies in memory; kept so in registers until it is used. */
template <typename T> struct pack;

template <> struct pack<uint16_t> {
    uint4 bits;
};

template <> struct pack<float> {
    float4 low, high;
};

template <typename T> static inline __device__ pack<T> pack_load(const T *tensor, size_t i)
{
    return reinterpret_cast<const pack<T> *>(tensor)[i];
}

static inline __device__ void pack_widen_pair(uint32_t bits, float *x)
{
    x[0] = bf16_widen((uint16_t)bits);
    x[1] = bf16_widen((uint16_t)(bits >> 16));
}

static inline __device__ void pack_numbers(const pack<uint16_t> &p, float x[PACK])
{
    pack_widen_pair(p.bits.x, x);
    pack_widen_pair(p.bits.y, x + 2);
    pack_widen_pair(p.bits.z, x + 4);
    pack_widen_pair(p.bits.w, x + 6);
}

static inline __device__ void pack_numbers(const pack<float> &p, float x[PACK])
{
    x[0] = p.low.x;
    x[1] = p.low.y;
    x[2] = p.low.z;
    x[3] = p.low.w;
    x[4] = p.high.x;
    x[5] = p.high.y;
    x[6] = p.high.z;
    x[7] = p.high.w;
}

/* bf16_round of two, in one instruction where there is one. */
static inline __device__ uint32_t pack_round_pair(float low, float high)
{
#ifdef __CUDA_ARCH__
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    uint32_t bits;
    memcpy(&bits, &pair, sizeof bits);
    return bits;
#else
    return bf16_round(low) | (uint32_t)bf16_round(high) << 16;
#endif
}

static inline __device__ void pack_store(uint16_t *tensor, size_t i, const float x[PACK])
{
    pack<uint16_t> p;
    p.bits.x = pack_round_pair(x[0], x[1]);
    p.bits.y = pack_round_pair(x[2], x[3]);
    p.bits.z = pack_round_pair(x[4], x[5]);
    p.bits.w = pack_round_pair(x[6], x[7]);
    reinterpret_cast<pack<uint16_t> *>(tensor)[i] = p;
}

static inline __device__ void pack_store(float *tensor, size_t i, const float x[PACK])
{
    pack<float> p;
    p.low = make_float4(x[0], x[1], x[2], x[3]);
    p.high = make_float4(x[4], x[5], x[6], x[7]);
    reinterpret_cast<pack<float> *>(tensor)[i] = p;
}

/* What pack_load finds of these numbers after pack_store. */
static inline __device__ void pack_as_stored(const uint16_t *, float x[PACK])
{
    for (int k = 0; k < PACK; k += 2)
        pack_widen_pair(pack_round_pair(x[k], x[k + 1]), x + k);
}

static inline __device__ void pack_as_stored(const float *, float[PACK]) {}

/* 8 f32 numbers of a vector with one for each channel; `vector` NULL: `none`, 8 times. */
static inline __device__ void pack_channels(const float *vector, uint32_t group, float none,
                                            float x[PACK])
{
    if (vector) {
        pack_numbers(pack_load(vector, group), x);
        return;
    }
    for (int k = 0; k < PACK; k++)
        x[k] = none;
}

/* Number `channel` of the tensor's first pixel. */
static inline __device__ float pack_first(const uint16_t *tensor, uint32_t channel)
{
    return bf16_widen(tensor[channel]);
}

static inline __device__ float pack_first(const float *tensor, uint32_t channel)
{
    return tensor[channel];
}

#endif
