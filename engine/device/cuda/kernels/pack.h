/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "engine/device/bf16.h"
#include "engine/device/cuda/kernels/kernels.h"
#include "engine/device/cuda/kernels/launch.h"

/*
 * A pack is what a thread reads and writes at once: 16 bytes of neighbouring channels of a pixel, 8
 * of bf16 or 4 of f32. So the threads of a warp that take neighbouring packs read 512 bytes without
 * gaps by each instruction, in either type. Tensors of TYPE_BF16 are arrays of uint16_t here,
 * others of float.
 */
/* As it lies in memory; kept so in registers until it is used. */
template <typename T> struct pack;

template <> struct pack<uint16_t> {
    enum { size = 8 }; /* numbers */
    uint4 bits;
};

template <> struct pack<float> {
    enum { size = 4 };
    float4 numbers;
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

static inline __device__ void pack_numbers(const pack<uint16_t> &p, float x[8])
{
    pack_widen_pair(p.bits.x, x);
    pack_widen_pair(p.bits.y, x + 2);
    pack_widen_pair(p.bits.z, x + 4);
    pack_widen_pair(p.bits.w, x + 6);
}

static inline __device__ void pack_numbers(const pack<float> &p, float x[4])
{
    x[0] = p.numbers.x;
    x[1] = p.numbers.y;
    x[2] = p.numbers.z;
    x[3] = p.numbers.w;
}

/* bf16_round of two numbers, in one instruction from sm_80 on. Not by <cuda_bf16.h>, which takes
 * longer to compile than most kernels. */
static inline __device__ uint32_t pack_round_pair(float low, float high)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    uint32_t bits;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
    return bits;
#else
    return bf16_round(low) | (uint32_t)bf16_round(high) << 16;
#endif
}

static inline __device__ void pack_store(uint16_t *tensor, size_t i, const float x[8])
{
    pack<uint16_t> p;
    p.bits.x = pack_round_pair(x[0], x[1]);
    p.bits.y = pack_round_pair(x[2], x[3]);
    p.bits.z = pack_round_pair(x[4], x[5]);
    p.bits.w = pack_round_pair(x[6], x[7]);
    reinterpret_cast<pack<uint16_t> *>(tensor)[i] = p;
}

static inline __device__ void pack_store(float *tensor, size_t i, const float x[4])
{
    reinterpret_cast<float4 *>(tensor)[i] = make_float4(x[0], x[1], x[2], x[3]);
}

/* What pack_load finds of these numbers after pack_store. */
static inline __device__ void pack_as_stored(const uint16_t *, float x[8])
{
    for (int k = 0; k < 8; k += 2)
        pack_widen_pair(pack_round_pair(x[k], x[k + 1]), x + k);
}

static inline __device__ void pack_as_stored(const float *, float[4]) {}

/*
 * Whether a number is above zero once it is stored: the least above zero in bf16 is 2^-133, and
 * half of it and less becomes 0 (ties to even). NaN is not.
 */
static inline __device__ bool pack_stores_above_zero(const uint16_t *, float x)
{
    return x > 0x1p-134F;
}

static inline __device__ bool pack_stores_above_zero(const float *, float x)
{
    return x > 0;
}

/* A pack's share of an f32 vector with a number for each channel; `vector` NULL: zeros. */
template <int size>
static inline __device__ void pack_channels(const float *vector, uint32_t group, float (&x)[size])
{
    for (int k = 0; k < size; k += 4) {
        const float4 v = vector ? reinterpret_cast<const float4 *>(vector)[(group * size + k) / 4]
                                : make_float4(0, 0, 0, 0);
        x[k] = v.x;
        x[k + 1] = v.y;
        x[k + 2] = v.z;
        x[k + 3] = v.w;
    }
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

/* 4 neighbouring numbers of an arena, in either type. */
static inline __device__ float4 quad_load(const float *arena, size_t i)
{
    return reinterpret_cast<const float4 *>(arena)[i];
}

static inline __device__ float4 quad_load(const uint16_t *arena, size_t i)
{
    const uint2 bits = reinterpret_cast<const uint2 *>(arena)[i];
    float x[4];
    pack_widen_pair(bits.x, x);
    pack_widen_pair(bits.y, x + 2);
    return make_float4(x[0], x[1], x[2], x[3]);
}

static inline __device__ void quad_store(float *arena, size_t i, float4 x)
{
    reinterpret_cast<float4 *>(arena)[i] = x;
}

static inline __device__ void quad_store(uint16_t *arena, size_t i, float4 x)
{
    reinterpret_cast<uint2 *>(arena)[i] =
        make_uint2(pack_round_pair(x.x, x.y), pack_round_pair(x.z, x.w));
}

/* A pack's place in a tensor: number `group` of the packs of pixel (y, x). */
struct pack_place {
    uint32_t group;
    int row, y, x;
};

/* Where pack i lies. Tensors have fewer than 2^32 packs. */
template <typename T>
static inline __device__ struct pack_place place_of(size_t i, const struct tensor_shape &shape)
{
    const uint32_t groups = (uint32_t)shape.channels / pack<T>::size;
    const uint32_t position = (uint32_t)i / groups, line = position / (uint32_t)shape.w;
    struct pack_place p;
    p.group = (uint32_t)i % groups;
    p.x = (int)(position % (uint32_t)shape.w);
    p.y = (int)(line % (uint32_t)shape.h);
    p.row = (int)(line / (uint32_t)shape.h);
    return p;
}

/* Pixel (y, x) of a row, counted from the tensor's first. */
static inline __device__ size_t pixel_at(const struct tensor_shape &shape, int row, int y, int x)
{
    return ((size_t)row * shape.h + y) * shape.w + x;
}

/* The pack of the same row and channels at (y, x) of a tensor. */
template <typename T>
static inline __device__ size_t pack_at(const struct tensor_shape &shape,
                                        const struct pack_place &p, int y, int x)
{
    return pixel_at(shape, p.row, y, x) * ((uint32_t)shape.channels / pack<T>::size) + p.group;
}
