/* SPDX-License-Identifier: MIT */

/*
 * The kernels of winograd.h for blocks of one vector. Included by a file that has chosen its
 * instruction set (vector_avx512.h, vector_avx2.h) and defined GROUP, the most tiles of a group.
 */

#include <stdint.h>

#include "engine/device/cpu/winograd_transform.h"

#define LINE 16 /* floats of a cache line */

#define INLINE static inline TARGET __attribute__((always_inline))

/* Where a tile lies. */
struct place {
    long row;
    int top, left; /* its first pixel of the result */
};

INLINE struct place place_of(const struct winograd *job, long tile)
{
    const long per_row = (long)job->tiles_h * job->tiles_w;
    const int at = (int)(tile % per_row);
    return (struct place){.row = tile / per_row,
                          .top = at / job->tiles_w * WINOGRAD_OUT,
                          .left = at % job->tiles_w * WINOGRAD_OUT};
}

INLINE void place_next(const struct winograd *job, struct place *at)
{
    at->left += WINOGRAD_OUT;
    if (at->left < job->tiles_w * WINOGRAD_OUT)
        return;
    at->left = 0;
    at->top += WINOGRAD_OUT;
    if (at->top < job->tiles_h * WINOGRAD_OUT)
        return;
    at->top = 0;
    at->row++;
}

static TARGET void input(const struct winograd *job, struct winograd_group group, int in_block,
                         float *v, size_t stride)
{
    float copy[WINOGRAD_POINTS * LANES] __attribute__((aligned(64)));
    const ptrdiff_t pixels = (ptrdiff_t)job->in_h * job->in_w;
    const ptrdiff_t blocks = job->in / LANES;
    const struct conv_norm *norm = job->norm;
    const vector scale = norm ? v_load(norm->scale + (ptrdiff_t)in_block * LANES) : v_zero();
    const vector shift = norm ? v_load(norm->shift + (ptrdiff_t)in_block * LANES) : v_zero();
    struct place at = place_of(job, group.first);
    for (int t = 0; t < group.tiles; t++) {
        const struct winograd_image image = {job->x + (at.row * blocks + in_block) * pixels * LANES,
                                             job->in_h, job->in_w};
        const int top = at.top - job->pad_h, left = at.left - job->pad_w;
        struct winograd_window window;
        if (norm)
            winograd_look_norm(&image, top, left, scale, shift, copy, &window);
        else
            winograd_look(&image, top, left, copy, &window);
        winograd_input(&window, v + (ptrdiff_t)t * LANES, stride);
        place_next(job, &at);
    }
}

static TARGET void fetch(const struct winograd *job, struct winograd_group group, int from, int to)
{
    const ptrdiff_t pixels = (ptrdiff_t)job->in_h * job->in_w;
    for (int i = from; i < to; i++) {
        const struct place at = place_of(job, group.first + i % group.tiles);
        const float *image =
            job->x + (at.row * (job->in / LANES) + i / group.tiles) * pixels * LANES;
        const int bottom = at.top + WINOGRAD_OUT < job->in_h ? at.top + WINOGRAD_OUT : job->in_h;
        const int width = job->in_w - at.left < WINOGRAD_OUT ? job->in_w - at.left : WINOGRAD_OUT;
        for (int h = at.top; h < bottom; h++)
            for (int k = 0; k < width * LANES; k += LINE)
                __builtin_prefetch(image + ((ptrdiff_t)h * job->in_w + at.left) * LANES + k, 0, 2);
    }
}

/* Turn rows into columns: every step weaves the two halves into each other. */
static TARGET void transpose(const float *from, float *to)
{
    vector a[LANES], b[LANES];
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++)
        a[i] = v_load(from + (ptrdiff_t)i * LANES);
#pragma GCC unroll 4
    for (int step = 1; step < LANES; step *= 2) {
#pragma GCC unroll 8
        for (int i = 0; i < LANES / 2; i++) {
            b[2 * i] = v_weave_low(a[i], a[i + LANES / 2]);
            b[2 * i + 1] = v_weave_high(a[i], a[i + LANES / 2]);
        }
#pragma GCC unroll 16
        for (int i = 0; i < LANES; i++)
            a[i] = b[i];
    }
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++)
        v_store(to + (ptrdiff_t)i * LANES, a[i]);
}

#define TAPS   9
#define SQUARE ((ptrdiff_t)LANES * LANES)

/* The weights [tap][in][out] between two blocks of channels, turned if they have to be. */
static TARGET const float *weights_between(const struct winograd *job, int in_block, int out_block,
                                           float *turned)
{
    if (!job->turned)
        return job->weights + ((ptrdiff_t)out_block * (job->in / LANES) + in_block) * TAPS * SQUARE;
    const float *w =
        job->weights + ((ptrdiff_t)in_block * (job->out / LANES) + out_block) * TAPS * SQUARE;
    for (int tap = 0; tap < TAPS; tap++)
        transpose(w + tap * SQUARE, turned + (TAPS - 1 - tap) * SQUARE);
    return turned;
}

static TARGET void weights(const struct winograd *job, int in_block, int out_block, int vectors,
                           float *u, size_t stride)
{
    float turned[TAPS * LANES * LANES] __attribute__((aligned(64)));
    for (int g = 0; g < vectors; g++) {
        const float *w = weights_between(job, in_block, out_block + g, turned);
        for (int k = 0; k < LANES; k++) {
            vector tap[TAPS];
#pragma GCC unroll 9
            for (int i = 0; i < TAPS; i++)
                tap[i] = v_load(w + i * SQUARE + (ptrdiff_t)k * LANES);
            winograd_weights(tap, u + ((ptrdiff_t)k * vectors + g) * LANES, stride);
        }
    }
}

/* Sums stay in registers for all channels; what M holds is added last, which rounds less than sums
 * that grow from it. `tiles` and `vectors` are constants here. */
INLINE void multiply_group(const float *v, const float *u, int in, bool add, float *m,
                           const int tiles, const int vectors)
{
    vector sum[GROUP][2];
#pragma GCC unroll 16
    for (int t = 0; t < tiles; t++)
#pragma GCC unroll 2
        for (int g = 0; g < vectors; g++)
            sum[t][g] = v_zero();
    for (int c = 0; c < in; c += LANES, v += (ptrdiff_t)tiles * LANES) {
#pragma GCC unroll 2
        for (int k = 0; k < LANES; k++, u += (ptrdiff_t)vectors * LANES) {
            vector w[2];
#pragma GCC unroll 2
            for (int g = 0; g < vectors; g++)
                w[g] = v_load(u + (ptrdiff_t)g * LANES);
#pragma GCC unroll 16
            for (int t = 0; t < tiles; t++) {
                const vector value = v_all(v[t * LANES + k]);
#pragma GCC unroll 2
                for (int g = 0; g < vectors; g++)
                    sum[t][g] = v_fma(value, w[g], sum[t][g]);
            }
        }
    }
#pragma GCC unroll 16
    for (int t = 0; t < tiles; t++)
#pragma GCC unroll 2
        for (int g = 0; g < vectors; g++) {
            float *to = m + (ptrdiff_t)(t * vectors + g) * LANES;
            if (add)
                sum[t][g] += v_load(to);
            v_store(to, sum[t][g]);
        }
}

typedef void multiply_function(const float *v, const float *u, int in, bool add, float *m);

#define DEFINE(T)                                                                                  \
    static TARGET void multiply_##T##_1(const float *v, const float *u, int in, bool add,          \
                                        float *m)                                                  \
    {                                                                                              \
        multiply_group(v, u, in, add, m, T, 1);                                                    \
    }                                                                                              \
    static TARGET void multiply_##T##_2(const float *v, const float *u, int in, bool add,          \
                                        float *m)                                                  \
    {                                                                                              \
        multiply_group(v, u, in, add, m, T, 2);                                                    \
    }
#define BOTH(T)                                                                                    \
    {                                                                                              \
        multiply_##T##_1, multiply_##T##_2                                                         \
    }

DEFINE(1)
DEFINE(2)
DEFINE(3)
DEFINE(4)
DEFINE(5)
DEFINE(6)
#if GROUP > 6
DEFINE(7)
DEFINE(8)
DEFINE(9)
DEFINE(10)
DEFINE(11)
DEFINE(12)
DEFINE(13)
DEFINE(14)
#endif

static multiply_function *const multiply_functions[GROUP][2] = {
    BOTH(1), BOTH(2), BOTH(3), BOTH(4),  BOTH(5),  BOTH(6),
#if GROUP > 6
    BOTH(7), BOTH(8), BOTH(9), BOTH(10), BOTH(11), BOTH(12), BOTH(13), BOTH(14),
#endif
};

static TARGET void multiply(const float *v, const float *u, int in, int tiles, int vectors,
                            bool add, float *m)
{
    multiply_functions[tiles - 1][vectors - 1](v, u, in, add, m);
}

#define EACH                                                                                       \
    _Pragma("GCC unroll 4") for (int i = 0; i < WINOGRAD_OUT; i++)                                 \
        _Pragma("GCC unroll 4") for (int j = 0; j < WINOGRAD_OUT; j++)
#define THERE (i < height && j < width)

/* Put a tile where it belongs, as much of it as there is. */
INLINE void put_tile(const struct winograd *job, vector y[WINOGRAD_OUT][WINOGRAD_OUT], float *to,
                     int height, int width, vector bias)
{
    const ptrdiff_t row = (ptrdiff_t)job->out_w * LANES;
    if (job->bias)
        EACH y[i][j] += bias;
    if (job->add)
        EACH if (THERE) y[i][j] += v_load(to + i * row + (ptrdiff_t)j * LANES);
    if (job->relu)
        EACH y[i][j] = v_max(y[i][j], v_zero());
    if (job->stream)
        EACH if (THERE) v_stream(to + i * row + (ptrdiff_t)j * LANES, y[i][j]);
    if (!job->stream)
        EACH if (THERE) v_store(to + i * row + (ptrdiff_t)j * LANES, y[i][j]);
}

/* Sums of a group's results of a block, in single precision; several, to hide the latency of the
 * additions. */
struct moments {
    vector origin, sum[WINOGRAD_OUT], square[WINOGRAD_OUT];
    long count;
};

/* The origin is the first number that the thread makes of each channel. */
INLINE struct moments moments_start(struct conv_moments *to, const float *m, size_t stride)
{
    struct moments s = {.count = 0};
    if (to->count == 0) {
        vector y[WINOGRAD_OUT][WINOGRAD_OUT];
        winograd_output(m, stride, y);
        v_store(to->origin, y[0][0]);
    }
    s.origin = v_load(to->origin);
#pragma GCC unroll 4
    for (int j = 0; j < WINOGRAD_OUT; j++)
        s.sum[j] = s.square[j] = v_zero();
    return s;
}

INLINE void moments_add(struct moments *s, vector y[WINOGRAD_OUT][WINOGRAD_OUT], int height,
                        int width)
{
    EACH if (THERE)
    {
        const vector off = y[i][j] - s->origin;
        s->sum[j] += off;
        s->square[j] = v_fma(off, off, s->square[j]);
    }
    s->count += (height < WINOGRAD_OUT ? height : WINOGRAD_OUT) *
                (width < WINOGRAD_OUT ? width : WINOGRAD_OUT);
}

/* A group is added up in single, the whole in double precision. */
INLINE void moments_end(const struct moments *s, struct conv_moments *to)
{
    float sum[LANES], square[LANES];
    v_store(sum, (s->sum[0] + s->sum[1]) + (s->sum[2] + s->sum[3]));
    v_store(square, (s->square[0] + s->square[1]) + (s->square[2] + s->square[3]));
    for (int k = 0; k < LANES; k++) {
        to->sum[k] += (double)sum[k];
        to->square[k] += (double)square[k];
    }
    to->count += s->count;
}

/* The results of one block. With moments there is nothing between the products and the result. */
INLINE void output_block(const struct winograd *job, struct winograd_group group, int block,
                         const float *m, ptrdiff_t next, size_t stride, const bool with_moments,
                         struct conv_moments *moments)
{
    const ptrdiff_t blocks = job->out / LANES, pixels = (ptrdiff_t)job->out_h * job->out_w;
    const vector bias = job->bias ? v_load(job->bias + (ptrdiff_t)block * LANES) : v_zero();
    struct place at = place_of(job, group.first);
    struct moments sums;
    if (with_moments)
        sums = moments_start(moments, m, stride);
    for (int t = 0; t < group.tiles; t++, m += next) {
        const int height = job->out_h - at.top, width = job->out_w - at.left;
        vector y[WINOGRAD_OUT][WINOGRAD_OUT];
        float *to =
            job->y +
            ((at.row * blocks + block) * pixels + (ptrdiff_t)at.top * job->out_w + at.left) * LANES;
        winograd_output(m, stride, y);
        if (with_moments)
            moments_add(&sums, y, height, width);
        put_tile(job, y, to, height, width, bias);
        place_next(job, &at);
    }
    if (with_moments)
        moments_end(&sums, moments);
}

static TARGET void output(const struct winograd *job, struct winograd_group group, int out_block,
                          int vectors, const float *m, size_t stride, struct conv_moments *moments)
{
    const ptrdiff_t next = (ptrdiff_t)vectors * LANES;
    for (int g = 0; g < vectors; g++, m += LANES)
        if (moments)
            output_block(job, group, out_block + g, m, next, stride, true, moments + g);
        else
            output_block(job, group, out_block + g, m, next, stride, false, NULL);
    if (job->stream)
        v_fence();
}

#undef EACH
#undef THERE
