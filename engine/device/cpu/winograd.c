/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/winograd.h"

#include <omp.h>
#include <unistd.h>

#include "engine/device/cpu/method.h"
#include "engine/device/cpu/winograd_methods.h"

/*
 * Two ways to walk through the 36 products. Either all weights are transformed first and every
 * thread takes blocks of tiles whose V and M stay in its second-level cache while U is read once
 * per block. Or, where there are so many channels that U would be read from memory again and again,
 * the values are transformed first, and every thread takes a pair of output blocks at a time, whose
 * weights it transforms some input channels at a time, right where they are multiplied; U never
 * leaves its cache. Neither way changes a sum: results depend on the shape alone.
 */

#define POINTS       36
#define PAD          16                /* floats between matrices, against strides of 4 KB */
#define STREAM_BYTES ((size_t)4 << 20) /* as for BatchNorm: results that no cache holds */
#define SHARED_BYTES ((size_t)8 << 20) /* of V that threads share, in the third-level cache */

struct pass {
    struct winograd job;
    const struct winograd_kernels *kernels;
    int threads;
    bool by_outputs;
    int in_blocks, pairs; /* blocks of input channels; pairs of blocks of output channels */
    int chunk;            /* input blocks of U that are made at a time */
    long block;           /* tiles whose V is held at a time */
    int groups;           /* of them whose M is held at a time */
    size_t v_stride, u_stride, m_stride; /* floats from a point to the next */
    size_t shared, own;                  /* floats of scratch: of all, of each thread */
    struct conv_moments *moments;        /* see struct conv_pass */
};

static size_t cache_size(void)
{
    const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return bytes >= 1 << 17 && bytes <= 1 << 23 ? (size_t)bytes : (size_t)1 << 20;
}

static int groups_of(const struct pass *p, long tiles)
{
    return (int)((tiles + p->kernels->tiles - 1) / p->kernels->tiles);
}

static size_t v_size(const struct pass *p)
{
    return POINTS * p->v_stride;
}

static size_t m_size(const struct pass *p)
{
    return POINTS * p->m_stride;
}

static size_t u_size(const struct pass *p)
{
    return POINTS * p->u_stride;
}

/* Strides for U of `in_blocks`. */
static void set_strides(struct pass *p, int in_blocks)
{
    const struct winograd_kernels *k = p->kernels;
    p->v_stride = (size_t)k->tiles * p->job.in + PAD;
    p->m_stride = (size_t)k->tiles * k->vectors * k->lanes;
    p->u_stride = (size_t)in_blocks * k->lanes * k->vectors * k->lanes + PAD;
}

static void plan_by_tiles(struct pass *p)
{
    set_strides(p, p->in_blocks);
    p->shared = p->pairs * u_size(p);
    p->own = v_size(p) + m_size(p);
}

static void plan_by_outputs(struct pass *p)
{
    const struct winograd_kernels *k = p->kernels;
    p->chunk = 64 / k->lanes;
    if (p->chunk > p->in_blocks)
        p->chunk = p->in_blocks;
    set_strides(p, p->chunk);
    p->groups = (int)(cache_size() / 2 / (m_size(p) * sizeof(float)));
    if (p->groups < 1)
        p->groups = 1;
    long most = (long)(SHARED_BYTES / (v_size(p) * sizeof(float)));
    if (most < p->groups)
        most = p->groups;
    p->block = most * k->tiles;
    if (p->block > p->job.tiles)
        p->block = p->job.tiles;
    p->shared = groups_of(p, p->block) * v_size(p);
    p->own = u_size(p) + p->groups * m_size(p);
}

static const struct winograd_kernels *kernels_of(int block)
{
#if defined(__x86_64__)
    return block == 16 ? &winograd_avx512 : &winograd_avx2;
#else
    (void)block;
    return NULL;
#endif
}

static void plan(struct pass *p, const struct conv_shape *s, bool gradient, int threads)
{
    struct winograd *job = &p->job;
    *p = (struct pass){.threads = threads, .kernels = kernels_of(s->in_block)};
    *job = (struct winograd){.rows = s->rows,
                             .in = gradient ? s->out : s->in,
                             .in_h = gradient ? s->out_h : s->in_h,
                             .in_w = gradient ? s->out_w : s->in_w,
                             .out = gradient ? s->in : s->out,
                             .out_h = gradient ? s->in_h : s->out_h,
                             .out_w = gradient ? s->in_w : s->out_w,
                             .pad_h = gradient ? 2 - s->pad_h : s->pad_h,
                             .pad_w = gradient ? 2 - s->pad_w : s->pad_w,
                             .turned = gradient,
                             .add = !gradient && s->add,
                             .relu = !gradient && s->relu};
    job->tiles_h = (job->out_h + 3) / 4;
    job->tiles_w = (job->out_w + 3) / 4;
    job->tiles = (long)s->rows * job->tiles_h * job->tiles_w;
    job->stream =
        (size_t)s->rows * job->out * job->out_h * job->out_w * sizeof(float) >= STREAM_BYTES;
    const int pair = p->kernels->lanes * p->kernels->vectors;
    p->in_blocks = job->in / p->kernels->lanes;
    p->pairs = (job->out + pair - 1) / pair;
    set_strides(p, p->in_blocks);
    p->by_outputs = v_size(p) * sizeof(float) > cache_size() / 2 ||
                    job->tiles < 2L * threads * p->kernels->tiles;
    if (p->by_outputs)
        plan_by_outputs(p);
    else
        plan_by_tiles(p);
}

static struct winograd_group group_at(long first, long tiles, int groups, int i)
{
    const long from = tiles * i / groups, to = tiles * (i + 1) / groups;
    return (struct winograd_group){first + from, (int)(to - from)};
}

static int vectors_of(const struct pass *p, int pair)
{
    const int left = p->job.out / p->kernels->lanes - pair * p->kernels->vectors;
    return left < p->kernels->vectors ? left : p->kernels->vectors;
}

/* The moments of this thread for the pairs of output blocks from `pair` on. */
static struct conv_moments *moments_of(const struct pass *p, int pair)
{
    const int blocks = p->job.out / p->kernels->lanes, first = pair * p->kernels->vectors;
    return p->moments ? p->moments + omp_get_thread_num() * blocks + first : NULL;
}

/*
 * A group of tiles on one thread, with U of all weights. The values of the `next` one are fetched
 * meanwhile: they come from memory, which is slow to answer and idle while matrices are multiplied.
 */
static void run_group(const struct pass *p, struct winograd_group group, struct winograd_group next,
                      const float *u, float *own)
{
    const struct winograd_kernels *k = p->kernels;
    const int fetches = p->in_blocks * next.tiles, steps = p->pairs * POINTS;
    float *v = own, *m = own + v_size(p);
    for (int b = 0; b < p->in_blocks; b++)
        k->input(&p->job, group, b, v + (size_t)b * k->lanes * group.tiles, p->v_stride);
    for (int pair = 0, step = 0; pair < p->pairs; pair++) {
        const int vectors = vectors_of(p, pair);
        for (size_t point = 0; point < POINTS; point++, step++) {
            k->fetch(&p->job, next, fetches * step / steps, fetches * (step + 1) / steps);
            k->multiply(v + point * p->v_stride, u + pair * u_size(p) + point * p->u_stride,
                        p->job.in, group.tiles, vectors, false, m + point * p->m_stride);
        }
        k->output(&p->job, group, pair * k->vectors, vectors, m, p->m_stride, moments_of(p, pair));
    }
}

static void run_by_tiles(const struct pass *p, float *scratch)
{
    const struct winograd_kernels *k = p->kernels;
    const int groups = groups_of(p, p->job.tiles);
#pragma omp parallel num_threads(p->threads)
    {
        float *own = scratch + p->shared + (size_t)omp_get_thread_num() * p->own;
#pragma omp for schedule(static)
        for (int i = 0; i < p->pairs * p->in_blocks; i++) {
            const int pair = i / p->in_blocks, b = i % p->in_blocks;
            const int vectors = vectors_of(p, pair);
            k->weights(&p->job, b, pair * k->vectors, vectors,
                       scratch + pair * u_size(p) + (size_t)b * k->lanes * vectors * k->lanes,
                       p->u_stride);
        }
#pragma omp for schedule(static)
        for (int i = 0; i < groups; i++)
            run_group(p, group_at(0, p->job.tiles, groups, i),
                      group_at(0, p->job.tiles, groups, i + 1 < groups ? i + 1 : i), scratch, own);
    }
}

/* A pair of output blocks for the groups from `from` to `to` of a block of tiles, on one thread. */
static void run_pair(const struct pass *p, long first, long tiles, int from, int to, int pair,
                     const float *v, float *own)
{
    const struct winograd_kernels *k = p->kernels;
    const int groups = groups_of(p, tiles), vectors = vectors_of(p, pair);
    float *u = own, *m = own + u_size(p);
    for (int b = 0; b < p->in_blocks; b += p->chunk) {
        const int end = b + p->chunk < p->in_blocks ? b + p->chunk : p->in_blocks;
        for (int i = b; i < end; i++)
            k->weights(&p->job, i, pair * k->vectors, vectors,
                       u + (size_t)(i - b) * k->lanes * vectors * k->lanes, p->u_stride);
        for (size_t point = 0; point < POINTS; point++)
            for (int i = from; i < to; i++) {
                const int count = group_at(first, tiles, groups, i).tiles;
                k->multiply(v + i * v_size(p) + point * p->v_stride + (size_t)b * k->lanes * count,
                            u + point * p->u_stride, (end - b) * k->lanes, count, vectors, b > 0,
                            m + (i - from) * m_size(p) + point * p->m_stride);
            }
    }
    for (int i = from; i < to; i++)
        k->output(&p->job, group_at(first, tiles, groups, i), pair * k->vectors, vectors,
                  m + (i - from) * m_size(p), p->m_stride, moments_of(p, pair));
}

static void run_by_outputs(const struct pass *p, float *scratch)
{
    const struct winograd_kernels *k = p->kernels;
    const long blocks = (p->job.tiles + p->block - 1) / p->block;
#pragma omp parallel num_threads(p->threads)
    for (long block = 0; block < blocks; block++) {
        float *own = scratch + p->shared + (size_t)omp_get_thread_num() * p->own;
        const long first = p->job.tiles * block / blocks;
        const long tiles = p->job.tiles * (block + 1) / blocks - first;
        const int groups = groups_of(p, tiles);
        int parts = (groups + p->groups - 1) / p->groups;
        while (parts < groups && parts * p->pairs < p->threads)
            parts++;
#pragma omp for schedule(static)
        for (int i = 0; i < groups * p->in_blocks; i++) {
            const int b = i % p->in_blocks;
            const struct winograd_group group = group_at(first, tiles, groups, i / p->in_blocks);
            k->input(&p->job, group, b,
                     scratch + i / p->in_blocks * v_size(p) + (size_t)b * k->lanes * group.tiles,
                     p->v_stride);
        }
#pragma omp for schedule(static)
        for (int i = 0; i < parts * p->pairs; i++) {
            const int part = i / p->pairs;
            run_pair(p, first, tiles, groups * part / parts, groups * (part + 1) / parts,
                     i % p->pairs, scratch, own);
        }
    }
}

static bool fits(const struct conv_shape *s)
{
    return s->kernel_h == 3 && s->kernel_w == 3 && s->stride_h == 1 && s->stride_w == 1 &&
           s->pad_h <= 2 && s->pad_w <= 2 && s->in_block == s->out_block &&
           (s->in_block == 8 || s->in_block == 16) && s->out_h > 0 && s->out_w > 0;
}

static size_t scratch_of(const struct conv_shape *shape, int threads, bool gradient)
{
    struct pass p;
    plan(&p, shape, gradient, threads);
    return (p.shared + p.own * (size_t)threads) * sizeof(float);
}

static size_t forward_scratch(const struct conv_shape *shape, int threads)
{
    return scratch_of(shape, threads, false);
}

static size_t gradient_scratch(const struct conv_shape *shape, int threads)
{
    return scratch_of(shape, threads, true);
}

static void run(const struct conv_pass *pass, bool gradient)
{
    struct pass p;
    plan(&p, pass->shape, gradient, pass->threads);
    p.job.x = gradient ? pass->dy : pass->x;
    p.job.y = gradient ? pass->dx : pass->y;
    p.job.weights = pass->w;
    p.job.bias = gradient ? NULL : pass->bias;
    p.job.norm = gradient ? NULL : pass->norm;
    p.moments = gradient ? NULL : pass->moments;
    for (int i = 0; p.moments && i < pass->threads * (p.job.out / p.kernels->lanes); i++)
        p.moments[i] = (struct conv_moments){.count = 0};
    if (p.by_outputs)
        run_by_outputs(&p, pass->scratch);
    else
        run_by_tiles(&p, pass->scratch);
}

static void run_forward(const struct conv_pass *pass)
{
    run(pass, false);
}

static void run_gradient(const struct conv_pass *pass)
{
    run(pass, true);
}

#define METHOD(BLOCK, DIRECTION, SCRATCH, RUN, BESIDE)                                             \
    {                                                                                              \
        "winograd 4x4", BLOCK, DIRECTION, fits, SCRATCH, RUN, BESIDE                               \
    }

const struct conv_method winograd_forward_16 =
    METHOD(16, CONV_FORWARD, forward_scratch, run_forward, true);
const struct conv_method winograd_forward_8 =
    METHOD(8, CONV_FORWARD, forward_scratch, run_forward, true);
const struct conv_method winograd_data_16 =
    METHOD(16, CONV_BACKWARD_DATA, gradient_scratch, run_gradient, false);
const struct conv_method winograd_data_8 =
    METHOD(8, CONV_BACKWARD_DATA, gradient_scratch, run_gradient, false);
