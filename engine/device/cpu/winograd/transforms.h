/* SPDX-License-Identifier: MIT */

/*
 * The loops of winograd/kernels.h over values, for blocks of one vector and values of the type of
 * simd/stored.h. Included after blocked.h or fixed.h.
 */

#include "engine/device/cpu/winograd/maps.h"

/* Run for the sizes of a group's tiles, as constants. */
#define BY_SIZE(group, run, ...)                                                                   \
    do {                                                                                           \
        if ((group)->h.size == 4 && (group)->w.size == 4)                                          \
            run(__VA_ARGS__, 4, 4);                                                                \
        else if ((group)->h.size == 4)                                                             \
            run(__VA_ARGS__, 4, 3);                                                                \
        else if ((group)->w.size == 4)                                                             \
            run(__VA_ARGS__, 3, 4);                                                                \
        else                                                                                       \
            run(__VA_ARGS__, 3, 3);                                                                \
    } while (0)

static const number zeros[WINOGRAD_TILE * LANES];

/* The window of a block of x at (top, left), row after row in `copy`: zeros outside the
 * image; what is inside goes through BatchNorm if there is one. */
INLINE void copy_window(const struct winograd *job, int in_block, const number *image, int top,
                        int left, number *copy, const bool norm)
{
    const ptrdiff_t channel = (ptrdiff_t)in_block * LANES;
    const vector scale = norm ? v_load(job->norm->scale + channel) : v_zero();
    const vector shift = norm ? v_load(job->norm->shift + channel) : v_zero();
    const bool whole = left >= 0 && left + WINOGRAD_TILE <= job->in_w;
#define PIXEL(j) n_load(from + (j)*LANES)
#define VALUE(j) (norm ? v_max(v_fma(PIXEL(j), scale, shift), v_zero()) : PIXEL(j))
    for (int i = 0; i < WINOGRAD_TILE; i++, copy += WINOGRAD_TILE * LANES) {
        const bool inside = (unsigned)(top + i) < (unsigned)job->in_h;
        const number *from = image + ((ptrdiff_t)(top + i) * job->in_w + left) * LANES;
        if (inside && whole) {
#pragma GCC unroll 6
            for (int j = 0; j < WINOGRAD_TILE; j++)
                n_store(copy + j * LANES, VALUE(j));
        } else {
            for (int j = 0; j < WINOGRAD_TILE; j++) {
                const bool there = inside && (unsigned)(left + j) < (unsigned)job->in_w;
                n_store(copy + j * LANES, there ? VALUE(j) : v_zero());
            }
        }
    }
#undef VALUE
#undef PIXEL
}

/* V of a tile whose window lacks more than its edges, or is not what x holds: from a copy. */
static __attribute__((noinline)) TARGET void input_copied(const struct winograd *job,
                                                          const struct winograd_group *group,
                                                          int in_block, const number *image,
                                                          int top, int left, const struct points *v)
{
    number copy[WINOGRAD_POINTS * LANES] __attribute__((aligned(64)));
    const ptrdiff_t row = WINOGRAD_TILE * LANES;
    const struct look look = {.top = copy,
                              .inner = copy + row,
                              .bottom = copy + (group->h.size + 1) * row,
                              .stride = row,
                              .first = v_mask_of(true),
                              .last = v_mask_of(true)};
    if (job->norm)
        copy_window(job, in_block, image, top, left, copy, true);
    else
        copy_window(job, in_block, image, top, left, copy, false);
    BY_SIZE(group, tile_values, &look, v);
}

/* For tiles of h x w, which are constants here. */
INLINE void input_tiles(const struct winograd *job, const struct winograd_group *group,
                        int in_block, v_number *v, ptrdiff_t stride, const float *scales,
                        const int h, const int w)
{
    const ptrdiff_t line = (ptrdiff_t)job->in_w * LANES, plane = job->in_h * line;
    struct place at = place_of(group, 0);
    for (int t = 0; t < group->tiles; t++, v += LANES, place_next(group, &at)) {
        const struct points points = {v, stride, FACTORS(scales, t)};
        const int top = at.top - job->pad_h, left = at.left - job->pad_w;
        const int bottom = top + h + 1, right = left + w + 1;
        const number *image =
            (const number *)job->x + (at.row * (job->in / LANES) + in_block) * plane;
        const number *first = image + top * line + (ptrdiff_t)left * LANES;
        if (job->norm || top < -1 || left < -1 || bottom > job->in_h || right > job->in_w) {
            input_copied(job, group, in_block, image, top, left, &points);
        } else {
            const struct look look = {.top = top >= 0 ? first : zeros,
                                      .inner = first + line,
                                      .bottom = bottom < job->in_h ? first + (h + 1) * line : zeros,
                                      .stride = line,
                                      .first = v_mask_of(left >= 0),
                                      .last = v_mask_of(right < job->in_w)};
            tile_values(&look, &points, h, w);
        }
    }
}

static TARGET void input(const struct winograd *job, const struct winograd_group *group,
                         int in_block, float *v, size_t stride, const float *scales)
{
    const size_t numbers = sizeof *v / sizeof(v_number); /* of a float */
    BY_SIZE(group, input_tiles, job, group, in_block, (v_number *)v, (ptrdiff_t)(stride * numbers),
            scales);
}

/* Ask for the pixels of a block of an image that lie where the results of a tile are. */
INLINE void fetch_tile(const number *image, int height, int width, const struct place *at,
                       const struct winograd_group *group)
{
    const int bottom = at->top + group->h.size < height ? at->top + group->h.size : height;
    const int right = at->left + group->w.size < width ? at->left + group->w.size : width;
    for (int y = at->top; y < bottom; y++)
        for (int k = at->left * LANES; k < right * LANES; k += NUMBER_LINE)
            __builtin_prefetch(image + (ptrdiff_t)y * width * LANES + k, 0, 2);
}

static TARGET void fetch(const struct winograd *job, const struct winograd_group *group, int from,
                         int to)
{
    const ptrdiff_t plane = (ptrdiff_t)job->in_h * job->in_w * LANES;
    const int blocks = job->in / LANES;
    for (int i = from; i < to; i++) {
        const struct place at = place_of(group, i % group->tiles);
        const number *x = job->x;
        fetch_tile(x + (at.row * blocks + i / group->tiles) * plane, job->in_h, job->in_w, &at,
                   group);
    }
}

static TARGET void fetch_results(const struct winograd *job, const struct winograd_group *group,
                                 int out_block, int vectors, int from, int to)
{
    const ptrdiff_t plane = (ptrdiff_t)job->out_h * job->out_w * LANES;
    for (int t = from; t < to; t++) {
        const struct place at = place_of(group, t);
        const number *y =
            (const number *)job->y + (at.row * (job->out / LANES) + out_block) * plane;
        for (int g = 0; g < vectors; g++)
            fetch_tile(y + g * plane, job->out_h, job->out_w, &at, group);
    }
}

#define EACH                                                                                       \
    _Pragma("GCC unroll 4") for (int i = 0; i < h; i++)                                            \
        _Pragma("GCC unroll 4") for (int j = 0; j < w; j++)
#define THERE (i < height && j < width)

/* Put a tile of h x w where it belongs, as much of it as there is. */
INLINE void put_tile(const struct winograd *job, vector y[WINOGRAD_OUT][WINOGRAD_OUT], number *to,
                     int height, int width, vector bias, const int h, const int w)
{
    const ptrdiff_t row = (ptrdiff_t)job->out_w * LANES;
    if (job->bias)
        EACH y[i][j] += bias;
    if (job->add)
        EACH if (THERE) y[i][j] += n_load(to + i * row + (ptrdiff_t)j * LANES);
    if (job->relu)
        EACH y[i][j] = v_max(y[i][j], v_zero());
    if (job->stream)
        EACH if (THERE) n_stream(to + i * row + (ptrdiff_t)j * LANES, y[i][j]);
    if (!job->stream)
        EACH if (THERE) n_store(to + i * row + (ptrdiff_t)j * LANES, y[i][j]);
}

/* Sums of a group's results of a block, in single precision; several, to hide the latency of the
 * additions. */
struct moments {
    vector origin, sum[WINOGRAD_OUT], square[WINOGRAD_OUT];
    long count;
};

/* The origin is the first number that the thread makes of each channel. */
INLINE struct moments moments_start(struct conv_moments *to, const float *m, const float *scales,
                                    const int h, const int w)
{
    struct moments s = {.count = 0};
    if (to->count == 0) {
        vector y[WINOGRAD_OUT][WINOGRAD_OUT];
        tile_results(m, h, w, y);
        v_store(to->origin, SCALED(y[0][0], scales, 0));
    }
    s.origin = v_load(to->origin);
#pragma GCC unroll 4
    for (int j = 0; j < WINOGRAD_OUT; j++)
        s.sum[j] = s.square[j] = v_zero();
    return s;
}

INLINE void moments_add(struct moments *s, vector y[WINOGRAD_OUT][WINOGRAD_OUT], int height,
                        int width, const int h, const int w)
{
    EACH if (THERE)
    {
        const vector off = y[i][j] - s->origin;
        s->sum[j] += off;
        s->square[j] = v_fma(off, off, s->square[j]);
    }
    s->count += height * width;
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

/* A block of the results of tiles of h x w, which are constants here. With moments there is nothing
 * between the products and the result. */
INLINE void output_tiles(const struct winograd *job, const struct winograd_group *group, int block,
                         const float *m, ptrdiff_t next, const float *scales,
                         struct conv_moments *moments, const bool with_moments, const int h,
                         const int w)
{
    const ptrdiff_t blocks = job->out / LANES, pixels = (ptrdiff_t)job->out_h * job->out_w;
    const vector bias = job->bias ? v_load(job->bias + (ptrdiff_t)block * LANES) : v_zero();
    struct place at = place_of(group, 0);
    struct moments sums;
    if (with_moments)
        sums = moments_start(moments, m, scales, h, w);
    for (int t = 0; t < group->tiles; t++, m += next) {
        const int height = job->out_h - at.top, width = job->out_w - at.left;
        vector y[WINOGRAD_OUT][WINOGRAD_OUT];
        number *to =
            (number *)job->y +
            ((at.row * blocks + block) * pixels + (ptrdiff_t)at.top * job->out_w + at.left) * LANES;
        tile_results(m, h, w, y);
        EACH y[i][j] = SCALED(y[i][j], scales, t);
        if (height >= h && width >= w) {
            if (with_moments)
                moments_add(&sums, y, h, w, h, w);
            put_tile(job, y, to, h, w, bias, h, w);
        } else {
            const int rows = height < h ? height : h, columns = width < w ? width : w;
            if (with_moments)
                moments_add(&sums, y, rows, columns, h, w);
            put_tile(job, y, to, rows, columns, bias, h, w);
        }
        place_next(group, &at);
    }
    if (with_moments)
        moments_end(&sums, moments);
}

#undef EACH
#undef THERE

static TARGET void output(const struct winograd *job, const struct winograd_group *group,
                          int out_block, int vectors, const float *m, const float *scales,
                          struct conv_moments *moments)
{
    const ptrdiff_t next = (ptrdiff_t)vectors * LANES;
    for (int g = 0; g < vectors; g++, m += LANES)
        if (moments)
            BY_SIZE(group, output_tiles, job, group, out_block + g, m, next, scales, moments + g,
                    true);
        else
            BY_SIZE(group, output_tiles, job, group, out_block + g, m, next, scales, NULL, false);
    if (job->stream)
        v_fence();
}
