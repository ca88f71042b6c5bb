/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/winograd/plan.h"

#include <pthread.h>
#include <unistd.h>

#include "engine/device/cpu/core/number.h"

#define PAD          16                /* floats between matrices, against strides of 4 KB */
#define CHANNELS     64                /* whose U is made at a time, or those of a step */
#define STREAM_BYTES ((size_t)1 << 20) /* results are stored past the caches from this size on */
#define SHARED_BYTES ((size_t)8 << 20) /* of V that threads share, in the third-level cache */
#define OWN_BYTES    ((size_t)6 << 20) /* of V that a thread has for itself there */
#define U_BYTES      ((size_t)4 << 20) /* of U: more does not stay in the third-level cache */
#define FEW_TILES    320               /* too few to write so much U and read it again */
#define OWN_GROUPS   3                 /* for which it is worth transforming all weights */

/* Asked for once: where a processor's cores differ it may be that of the core which asks, and two
 * plans for one shape must agree. */
static size_t second_cache;

static void ask_cache_size(void)
{
    const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    second_cache = bytes >= 1 << 17 && bytes <= 1 << 23 ? (size_t)bytes : (size_t)1 << 20;
}

static size_t cache_size(void)
{
    static pthread_once_t asked = PTHREAD_ONCE_INIT;
    pthread_once(&asked, ask_cache_size);
    return second_cache;
}

/* U of `in_blocks`. */
static void set_stride(struct winograd_plan *p, int in_blocks)
{
    const struct winograd_kernels *k = p->kernels;
    p->u_stride = (size_t)((in_blocks + k->step - 1) / k->step) * k->u_step + PAD;
}

static void plan_by_tiles(struct winograd_plan *p)
{
    p->shared = p->pairs * winograd_u_size(p);
    p->own = winograd_v_size(p) + winograd_m_size(p);
}

static int at_least_one(size_t number)
{
    return number < 1 ? 1 : (int)number;
}

static void plan_by_outputs(struct winograd_plan *p)
{
    const int each = (p->groups.count + p->threads - 1) / p->threads;
    const size_t v_bytes = winograd_v_size(p) * sizeof(float);
    p->chunk = CHANNELS / p->kernels->lanes > p->kernels->step ? CHANNELS / p->kernels->lanes
                                                               : p->kernels->step;
    if (p->chunk > p->in_blocks)
        p->chunk = p->in_blocks;
    set_stride(p, p->chunk);
    p->sums = at_least_one(cache_size() * 2 / 3 / (winograd_m_size(p) * sizeof(float)));
    p->sums = p->sums < WINOGRAD_MOST_SUMS ? p->sums : WINOGRAD_MOST_SUMS;
    p->shared_tiles = p->groups.count < OWN_GROUPS * p->threads;
    p->own = winograd_u_size(p) + p->sums * winograd_m_size(p);
    if (p->shared_tiles) {
        p->held = at_least_one(SHARED_BYTES / v_bytes);
        p->held = p->held < p->groups.count ? p->held : p->groups.count;
        p->shared = p->held * winograd_v_size(p);
    } else {
        p->held = at_least_one(OWN_BYTES / v_bytes);
        p->held = p->held < each ? p->held : each;
        p->own += p->held * winograd_v_size(p);
    }
}

/* By outputs, threads with groups of their own each transform all weights: the more threads, the
 * fewer tiles it pays for. */
static bool is_by_outputs(const struct winograd_plan *p)
{
    const size_t u_bytes = (size_t)p->pairs * winograd_u_size(p) * sizeof(float);
    const int count = p->groups.count;
    return winograd_v_size(p) * sizeof(float) > cache_size() / 2 || count < 2 * p->threads ||
           (u_bytes > U_BYTES && count * p->kernels->tiles * p->threads < FEW_TILES);
}

static const struct winograd_kernels *kernels_of(const struct conv_shape *shape)
{
#if defined(__x86_64__)
    if (shape->bf16)
        return shape->in_block == 16 ? &winograd_avx512_bf16 : &winograd_avx2_bf16;
    return shape->in_block == 16 ? &winograd_avx512 : &winograd_avx2;
#else
    (void)shape;
    return NULL;
#endif
}

void winograd_plan_make(struct winograd_plan *p, const struct conv_shape *s, bool gradient,
                        int threads)
{
    struct winograd *job = &p->job;
    *p = (struct winograd_plan){.threads = threads, .kernels = kernels_of(s)};
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
    job->stream =
        !job->add &&
        (size_t)s->rows * job->out * job->out_h * job->out_w * number_size(s->bf16) >= STREAM_BYTES;
    const int pair = p->kernels->lanes * p->kernels->vectors;
    p->in_blocks = job->in / p->kernels->lanes;
    p->pairs = (job->out + pair - 1) / pair;
    p->v_stride = (size_t)p->kernels->v_block * p->in_blocks + PAD;
    winograd_groups_make(&p->groups, s->rows, job->out_h, job->out_w, p->kernels->tiles, threads);
    set_stride(p, p->in_blocks);
    p->by_outputs = is_by_outputs(p);
    if (p->by_outputs)
        plan_by_outputs(p);
    else
        plan_by_tiles(p);
}
