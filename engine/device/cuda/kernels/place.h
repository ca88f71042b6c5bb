/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/kernels/kernels.h"
#include "engine/device/cuda/kernels/pack.h"

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
