/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/winograd/values.h"

#include <omp.h>

#include "engine/device/cpu/winograd/plan.h"

#define LINE 16 /* floats of a cache line */
#define TAPS 9

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* V of a group for an input block, in that of all. */
static void transform_block(const struct winograd_plan *p, const struct winograd_group *group,
                            int block, float *v)
{
    p->kernels->input(&p->job, group, block, v + (size_t)block * p->kernels->v_block, p->v_stride,
                      winograd_scales(p, v));
}

static void transform(const struct winograd_plan *p, const struct winograd_group *group, float *v)
{
    if (p->kernels->scale)
        p->kernels->scale(&p->job, group, winograd_scales(p, v));
    for (int b = 0; b < p->in_blocks; b++)
        transform_block(p, group, b, v);
}

/* The moments of this thread for a pair of output blocks. */
static struct conv_moments *moments_of(const struct winograd_plan *p, int pair)
{
    const int blocks = p->job.out / p->kernels->lanes, first = pair * p->kernels->vectors;
    return p->moments ? p->moments + omp_get_thread_num() * blocks + first : NULL;
}

/*
 * A group of tiles on one thread, with U of all weights. The values of the next one are fetched
 * meanwhile: they come from memory, which is slow to answer and idle while matrices are multiplied.
 */
static void run_group(const struct winograd_plan *p, int index, const float *u, float *own)
{
    const struct winograd_kernels *k = p->kernels;
    const struct winograd_group group = winograd_group_at(&p->groups, index);
    const struct winograd_group next =
        winograd_group_at(&p->groups, least(index + 1, p->groups.count - 1));
    const int fetches = p->in_blocks * next.tiles, steps = p->pairs * WINOGRAD_POINTS;
    float *v = own, *m = own + winograd_v_size(p);
    transform(p, &group, v);
    for (int pair = 0, fetched = 0; pair < p->pairs; pair++) {
        const int vectors = winograd_vectors_of(p, pair);
        for (int point = 0; point < WINOGRAD_POINTS; point++) {
            const int fetch = fetches * (pair * WINOGRAD_POINTS + point + 1) / steps;
            const float *values = v + (size_t)point * p->v_stride;
            const struct winograd_product product = {.v = values,
                                                     .u = u + pair * winograd_u_size(p) +
                                                          (size_t)point * p->u_stride,
                                                     .in = p->job.in,
                                                     .point = point,
                                                     .scales = winograd_scales(p, v),
                                                     .next = values + p->v_stride,
                                                     .m = m + (size_t)point * winograd_m_point(p)};
            if (p->job.add)
                k->fetch_results(&p->job, &group, pair * k->vectors, vectors,
                                 group.tiles * point / WINOGRAD_POINTS,
                                 group.tiles * (point + 1) / WINOGRAD_POINTS);
            if (!winograd_has(&group, point))
                continue;
            k->fetch(&p->job, &next, fetched, fetch);
            fetched = fetch;
            k->multiply(&product, group.tiles, vectors);
        }
        k->output(&p->job, &group, pair * k->vectors, vectors, m, winograd_scales(p, v),
                  moments_of(p, pair));
    }
}

/* U of a step for a pair of output blocks, among those of the input blocks from `first` on. */
static void make_weights(const struct winograd_plan *p, int pair, int first, int block, float *u)
{
    const struct winograd_kernels *k = p->kernels;
    const int vectors = winograd_vectors_of(p, pair);
    k->weights(&p->job, block, least(k->step, p->in_blocks - block), pair * k->vectors, vectors,
               u + winograd_u_before(p, block - first, vectors), p->u_stride);
}

static void run_by_tiles(const struct winograd_plan *p, float *scratch)
{
    const struct winograd_kernels *k = p->kernels;
    const int steps = (p->in_blocks + k->step - 1) / k->step;
#pragma omp parallel num_threads(p->threads)
    {
        float *own = scratch + p->shared + (size_t)omp_get_thread_num() * p->own;
#pragma omp for schedule(static)
        for (int i = 0; i < p->pairs * steps; i++) {
            const int pair = i / steps, b = i % steps * k->step;
            make_weights(p, pair, 0, b, scratch + pair * winograd_u_size(p));
        }
#pragma omp for schedule(static)
        for (int i = 0; i < p->groups.count; i++)
            run_group(p, i, scratch, own);
    }
}

/* Groups whose V is held. */
struct block {
    int first, count;
    float *v;
};

/* A chunk of input blocks and a pair of output blocks: the weights between them. */
struct weights_step {
    int pair, chunk;
};

/* Ask for part `part` of `parts` of a step's weights. */
static void fetch_weights(const struct winograd_plan *p, struct weights_step step, int part,
                          int parts)
{
    const int lanes = p->kernels->lanes, square = TAPS * lanes * lanes;
    const int vectors = winograd_vectors_of(p, step.pair), first = step.chunk * p->chunk;
    const int count = least(p->chunk, p->in_blocks - first) * vectors;
    for (int i = 0; i < count; i++) {
        const size_t in = (size_t)(first + i / vectors);
        const size_t out = (size_t)(step.pair * p->kernels->vectors + i % vectors);
        const size_t at = p->job.turned ? in * (size_t)(p->job.out / lanes) + out
                                        : out * (size_t)p->in_blocks + in;
        const float *weights = p->job.weights + at * (size_t)square;
        for (int k = square / LINE * part / parts; k < square / LINE * (part + 1) / parts; k++)
            __builtin_prefetch(weights + (ptrdiff_t)k * LINE, 0, 2);
    }
}

/* Some groups of a block, whose M one thread holds. */
struct part {
    struct winograd_group groups[WINOGRAD_MOST_SUMS];
    int count;
    float *v;
};

static struct part part_of(const struct winograd_plan *p, const struct block *block, int from,
                           int to)
{
    struct part part;
    part.count = to - from;
    part.v = block->v + (size_t)from * winograd_v_size(p);
    for (int i = 0; i < part.count; i++)
        part.groups[i] = winograd_group_at(&p->groups, block->first + from + i);
    return part;
}

/* A step for a part, on one thread. */
static void run_step(const struct winograd_plan *p, const struct part *part,
                     struct weights_step step, float *u, float *m)
{
    const struct winograd_kernels *k = p->kernels;
    const int vectors = winograd_vectors_of(p, step.pair), first = step.chunk * p->chunk;
    const int end = least(first + p->chunk, p->in_blocks);
    const struct weights_step next =
        end < p->in_blocks ? (struct weights_step){step.pair, step.chunk + 1}
                           : (struct weights_step){least(step.pair + 1, p->pairs - 1), 0};
    for (int i = first; i < end; i += k->step)
        make_weights(p, step.pair, first, i, u);
    for (int point = 0; point < WINOGRAD_POINTS; point++) {
        fetch_weights(p, next, point, WINOGRAD_POINTS);
        for (int i = 0; i < part->count; i++) {
            float *all = part->v + (size_t)i * winograd_v_size(p);
            const float *v = all + (size_t)point * p->v_stride + (size_t)first * (size_t)k->v_block;
            const struct winograd_product product = {
                .v = v,
                .u = u + (size_t)point * p->u_stride,
                .in = (end - first) * k->lanes,
                .add = first > 0,
                .point = point,
                .scales = winograd_scales(p, all),
                .next = i + 1 < part->count ? v + winograd_v_size(p) : v,
                .m = m + (size_t)i * winograd_m_size(p) + (size_t)point * winograd_m_point(p)};
            if (winograd_has(&part->groups[i], point))
                k->multiply(&product, part->groups[i].tiles, vectors);
        }
    }
}

/* A pair of output blocks. */
static void run_pair(const struct winograd_plan *p, const struct part *part, int pair, float *own)
{
    const struct winograd_kernels *k = p->kernels;
    float *u = own, *m = own + winograd_u_size(p);
    for (int i = 0; i * p->chunk < p->in_blocks; i++)
        run_step(p, part, (struct weights_step){pair, i}, u, m);
    for (int i = 0; i < part->count; i++)
        k->output(&p->job, &part->groups[i], pair * k->vectors, winograd_vectors_of(p, pair),
                  m + (size_t)i * winograd_m_size(p),
                  winograd_scales(p, part->v + (size_t)i * winograd_v_size(p)),
                  moments_of(p, pair));
}

/* Groups of a thread's own. */
static void run_alone(const struct winograd_plan *p, int first, int end, float *own)
{
    const int blocks = (end - first + p->held - 1) / p->held;
    float *v = own + winograd_u_size(p) + p->sums * winograd_m_size(p);
    for (int i = 0; i < blocks; i++) {
        const int from = first + (int)((long)(end - first) * i / blocks);
        const int to = first + (int)((long)(end - first) * (i + 1) / blocks);
        const struct block block = {from, to - from, v};
        for (int group = from; group < to; group++) {
            const struct winograd_group tiles = winograd_group_at(&p->groups, group);
            transform(p, &tiles, v + (group - from) * winograd_v_size(p));
        }
        for (int at = 0; at < block.count; at += p->sums) {
            const struct part part = part_of(p, &block, at, least(at + p->sums, block.count));
            for (int pair = 0; pair < p->pairs; pair++)
                run_pair(p, &part, pair, own);
        }
    }
}

/* All groups, on all threads; in a parallel region. */
static void run_together(const struct winograd_plan *p, float *scratch, float *own)
{
    const int blocks = (p->groups.count + p->held - 1) / p->held;
    for (int i = 0; i < blocks; i++) {
        const int from = p->groups.count * i / blocks, to = p->groups.count * (i + 1) / blocks;
        const struct block block = {from, to - from, scratch};
        int parts = (block.count + p->sums - 1) / p->sums;
        while (parts < block.count && parts * p->pairs < p->threads)
            parts++;
        if (p->kernels->scale)
#pragma omp for schedule(static)
            for (int j = 0; j < block.count; j++) {
                const struct winograd_group tiles = winograd_group_at(&p->groups, from + j);
                p->kernels->scale(&p->job, &tiles,
                                  winograd_scales(p, scratch + j * winograd_v_size(p)));
            }
#pragma omp for schedule(static)
        for (int j = 0; j < block.count * p->in_blocks; j++) {
            const int group = j / p->in_blocks, b = j % p->in_blocks;
            const struct winograd_group tiles = winograd_group_at(&p->groups, from + group);
            transform_block(p, &tiles, b, scratch + group * winograd_v_size(p));
        }
#pragma omp for schedule(static)
        for (int j = 0; j < parts * p->pairs; j++) {
            const int at = j / p->pairs;
            const struct part part =
                part_of(p, &block, block.count * at / parts, block.count * (at + 1) / parts);
            run_pair(p, &part, j % p->pairs, own);
        }
    }
}

static void run_by_outputs(const struct winograd_plan *p, float *scratch)
{
#pragma omp parallel num_threads(p->threads)
    {
        const int thread = omp_get_thread_num();
        float *own = scratch + p->shared + (size_t)thread * p->own;
        if (p->shared_tiles)
            run_together(p, scratch, own);
        else
            run_alone(p, p->groups.count * thread / p->threads,
                      p->groups.count * (thread + 1) / p->threads, own);
    }
}

static bool fits_f32(const struct conv_shape *shape)
{
    return winograd_fits(shape, false, 2);
}

static bool fits_bf16(const struct conv_shape *shape)
{
    return winograd_fits(shape, true, 2);
}

static size_t scratch(const struct conv_shape *shape, enum conv_direction direction, int threads)
{
    struct winograd_plan p;
    winograd_plan_make(&p, shape, direction == CONV_BACKWARD_DATA, threads);
    return (p.shared + p.own * (size_t)threads) * sizeof(float);
}

static void run(const struct conv_pass *pass)
{
    const bool gradient = pass->direction == CONV_BACKWARD_DATA;
    struct winograd_plan p;
    winograd_plan_make(&p, pass->shape, gradient, pass->threads);
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

#define KERNELS(BLOCK, DIRECTION, FUSES)                                                           \
    {                                                                                              \
        {"winograd 4x4", BLOCK, DIRECTION, fits_f32, scratch, run, FUSES},                         \
        {                                                                                          \
            "winograd 4x4, 16 bits", BLOCK, DIRECTION, fits_bf16, scratch, run, FUSES              \
        }                                                                                          \
    }

const struct conv_kernel winograd_forward_16[2] = KERNELS(16, CONV_FORWARD, true);
const struct conv_kernel winograd_forward_8[2] = KERNELS(8, CONV_FORWARD, true);
const struct conv_kernel winograd_data_16[2] = KERNELS(16, CONV_BACKWARD_DATA, false);
const struct conv_kernel winograd_data_8[2] = KERNELS(8, CONV_BACKWARD_DATA, false);
