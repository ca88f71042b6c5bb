/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/conv/kernel.h"
#include "engine/device/cpu/winograd/groups.h"

#define WINOGRAD_MOST_SUMS 64 /* groups */

/*
 * Two orders of the 36 products. Either all weights are transformed first and every
 * thread takes groups of tiles whose V and M stay in its second-level cache while U is read once
 * per group. Or, where there are so many channels that U would be read from memory many times,
 * or so few tiles that writing all of U does not pay, the values of a block of groups are
 * transformed first, and then, a pair of output blocks at a time, weights, some input channels at a
 * time, right where they are multiplied; U never leaves its cache. There a thread has blocks of its
 * own, or, where tiles are few, all of them share one and take different output blocks. Sums over
 * more channels than are made at a time are rounded differently, so the bits of a result depend on
 * the shape, the number of threads and the size of the second-level cache.
 */
struct winograd_plan {
    struct winograd job;
    const struct winograd_kernels *kernels;
    struct winograd_groups groups;
    int threads;
    bool by_outputs, shared_tiles;
    int in_blocks, pairs;         /* blocks of input channels; pairs of blocks of output channels */
    int chunk;                    /* input blocks of U that are made at a time */
    int held;                     /* groups whose V is held at a time */
    int sums;                     /* and whose M is; at most WINOGRAD_MOST_SUMS */
    size_t v_stride, u_stride;    /* floats from a point to the next */
    size_t shared, own;           /* floats of scratch: of all, of each thread */
    struct conv_moments *moments; /* see struct conv_pass; NULL: none */
};

/*
 * For a shape that the kernels fit; all but the pointers of the job and the moments. For the
 * gradient of the data in and out are exchanged and the padding is what is left of the kernel. The
 * scratch is `shared` floats, U or V by what is shared, and `own` for each thread: V and M, or U, M
 * and, where a thread has groups of its own, V.
 */
void winograd_plan_make(struct winograd_plan *plan, const struct conv_shape *shape, bool gradient,
                        int threads);

/* Floats of all V of a group, with its scales, which are behind the points. */
static inline size_t winograd_v_size(const struct winograd_plan *p)
{
    return WINOGRAD_POINTS * p->v_stride + (size_t)p->kernels->scales;
}

static inline float *winograd_scales(const struct winograd_plan *p, float *v)
{
    return v + WINOGRAD_POINTS * p->v_stride;
}

static inline size_t winograd_m_point(const struct winograd_plan *p)
{
    return (size_t)p->kernels->tiles * p->kernels->vectors * p->kernels->lanes;
}

static inline size_t winograd_m_size(const struct winograd_plan *p)
{
    return WINOGRAD_POINTS * winograd_m_point(p);
}

static inline size_t winograd_u_size(const struct winograd_plan *p)
{
    return WINOGRAD_POINTS * p->u_stride;
}

/* Floats of U at a point before those of an input block, which begins a step, for `vectors`. */
static inline size_t winograd_u_before(const struct winograd_plan *p, int block, int vectors)
{
    return (size_t)(block / p->kernels->step) * p->kernels->u_step / p->kernels->vectors * vectors;
}

/* Blocks of outputs in a pair. */
static inline int winograd_vectors_of(const struct winograd_plan *p, int pair)
{
    const int left = p->job.out / p->kernels->lanes - pair * p->kernels->vectors;
    return left < p->kernels->vectors ? left : p->kernels->vectors;
}
