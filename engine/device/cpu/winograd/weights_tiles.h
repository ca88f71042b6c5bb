/* SPDX-License-Identifier: MIT */

/*
 * V and D of winograd/weights.h for a block that is one vector, from values of the type of
 * simd/stored.h. Included like simd/blocked.h, before weights_table.h.
 *
 * A tile of 3 outputs has a window of 5 values and interpolates at 0, 1, -1, 2 and infinity, the
 * points of a tile of 4 without -2. Where the product of the differences between a point and the
 * others is N(3) with 5 points and N(4) with 6, V has N(4) / N(3) as a factor: the weights are
 * divided by N(4) in the end.
 */

#include "engine/device/cpu/simd/stored.h"

/* Input channels by vectors of the output that a product holds in registers. */
#define ROWS    (LANES / 2)
#define COLUMNS 2

#define LINE 16 /* floats of a cache line */

/* How many tiles ahead memory is asked for what the transforms read. */
#define AHEAD 16

/* Blocks in group `group` of a tensor of `channels`. */
static inline int group_blocks(const struct winograd_weights *w, int channels, int group)
{
    const int rest = channels - group * w->width;
    return (rest < w->width ? rest : w->width) / LANES;
}

/* A walk through the tiles of some bands of a group, block by block. */
struct walk {
    const struct winograd_weights *w;
    const struct winograd_chunk *chunk;
    const number *data;
    int height, width;
    size_t planes;            /* blocks of all groups */
    size_t first, block, end; /* of the group */
    size_t from, band, stop;
    int tile;            /* in the band */
    int high, top;       /* of the band: its pixels, and the first of them in the image */
    size_t slots[2];     /* in panels, of its tiles of 4 pixels and of 3 */
    const number *image; /* that the band lies in */
};

/* What all tiles of a band have in common. */
static inline void walk_band(struct walk *walk)
{
    const struct winograd_weights *w = walk->w;
    const struct winograd_chunk *chunk = walk->chunk;
    const size_t row = walk->band / (size_t)w->high.count;
    const int at = (int)(walk->band % (size_t)w->high.count);
    const bool four = at < w->high.fours;
    const size_t fours = winograd_fours(w, walk->band) - winograd_fours(w, chunk->from);
    const size_t like = four ? fours : walk->band - chunk->from - fours;
    const size_t *first = chunk->first + (four ? 0 : 2);
    walk->high = four ? 4 : 3;
    walk->top = winograd_start(&w->high, at);
    walk->slots[0] = first[0] + like * (size_t)w->wide.fours;
    walk->slots[1] = first[1] + like * (size_t)(w->wide.count - w->wide.fours);
    walk->image = walk->data + (row * walk->planes + walk->block) *
                                   ((size_t)walk->height * (size_t)walk->width) * LANES;
}

static inline struct walk walk_start(const struct winograd_weights *w,
                                     const struct winograd_chunk *chunk, const number *data,
                                     int height, int width, int channels, int group, size_t from,
                                     size_t count)
{
    const size_t first = (size_t)group * (size_t)(w->width / LANES);
    struct walk walk = {.w = w,
                        .chunk = chunk,
                        .data = data,
                        .height = height,
                        .width = width,
                        .planes = (size_t)(channels / LANES),
                        .first = first,
                        .block = first,
                        .end = first + (size_t)group_blocks(w, channels, group),
                        .from = from,
                        .band = from,
                        .stop = from + count};
    walk_band(&walk);
    return walk;
}

static inline void walk_next(struct walk *walk)
{
    if (++walk->tile < walk->w->wide.count)
        return;
    walk->tile = 0;
    if (++walk->band == walk->stop) {
        walk->band = walk->from;
        walk->block++;
    }
    walk_band(walk);
}

static inline bool walk_four(const struct walk *walk)
{
    return walk->tile < walk->w->wide.fours;
}

/* Where the point 0 of the tile goes. */
static inline float *walk_panel(const struct walk *walk, float *panels)
{
    const int fours = walk->w->wide.fours;
    const size_t slot = walk->tile < fours ? walk->slots[0] + (size_t)walk->tile
                                           : walk->slots[1] + (size_t)(walk->tile - fours);
    return panels + slot * (size_t)walk->w->width + (walk->block - walk->first) * LANES;
}

/*
 * Ask for the pixels of the tile, and go on: their rows are too short for the processor to see
 * what comes next. To be inlined early, as GCC takes a function that only prefetches for one
 * without an effect, and drops the call.
 */
static inline __attribute__((always_inline)) void walk_fetch(struct walk *walk)
{
    if (walk->block == walk->end)
        return;
    const int left = winograd_start(&walk->w->wide, walk->tile);
    const number *pixel = walk->image + ((ptrdiff_t)walk->top * walk->width + left) * LANES;
    for (int i = 0; i < walk->high && walk->top + i < walk->height;
         i++, pixel += (ptrdiff_t)walk->width * LANES)
#pragma GCC unroll 4
        for (int j = 0; j < WINOGRAD_OUT * LANES; j += NUMBER_LINE)
            __builtin_prefetch(pixel + j);
    walk_next(walk);
}

static inline struct walk walk_ahead(struct walk walk)
{
    for (int i = 0; i < AHEAD && walk.block < walk.end; i++)
        walk_next(&walk);
    return walk;
}

/* B^T x of the window of a tile of 3. */
static inline TARGET void input_3(const vector x[5], vector v[WINOGRAD_TILE])
{
    const vector odd = x[3] - x[1];
    v[0] = v_fma(v_all(2), odd, v_all(4) * (x[0] - x[2]));
    v[1] = v_all(3) * (x[3] - x[2] - (x[1] + x[1]));
    v[2] = v_fma(v_all(-3), x[2], v_fma(v_all(2), x[1], x[3]));
    v[3] = v_all(4) * odd;
    v[5] = v_fma(v_all(-2), odd, x[4] - x[2]);
}

static inline TARGET void input_4(const vector x[WINOGRAD_TILE], vector v[WINOGRAD_TILE])
{
    const vector even = x[4] - x[2], odd = x[3] - x[1];
    const vector a = v_fma(v_all(-4), x[2], x[4]), b = v_fma(v_all(-4), x[1], x[3]);
    v[0] = v_fma(v_all(4), x[0] - x[2], even);
    v[1] = a + b;
    v[2] = a - b;
    v[3] = v_fma(v_all(2), odd, even);
    v[4] = v_fma(v_all(-2), odd, even);
    v[5] = v_fma(v_all(-4), odd, x[5] - x[3]);
}

/* A d of the pixels of a tile of 3. */
static inline TARGET void gradient_3(const vector d[3], vector t[WINOGRAD_TILE])
{
    const vector even = d[0] + d[2];
    t[0] = d[0];
    t[1] = even + d[1];
    t[2] = even - d[1];
    t[3] = v_fma(v_all(4), d[2], v_fma(v_all(2), d[1], d[0]));
    t[5] = d[2];
}

static inline TARGET void gradient_4(const vector d[4], vector t[WINOGRAD_TILE])
{
    const vector even = d[0] + d[2], odd = d[1] + d[3];
    const vector even2 = v_fma(v_all(4), d[2], d[0]), odd2 = v_fma(v_all(4), d[3], d[1]);
    t[0] = d[0];
    t[1] = even + odd;
    t[2] = even - odd;
    t[3] = v_fma(v_all(2), odd2, even2);
    t[4] = v_fma(v_all(-2), odd2, even2);
    t[5] = d[3];
}

/* The rows of a window of up to 6x6 pixels; NULL where they lie outside the image. */
struct window {
    const number *row[WINOGRAD_TILE];
    int left, width;            /* its first column, and those of the image */
    const float *scale, *shift; /* of the block's channels, see struct conv_norm; NULL: none */
};

static inline TARGET struct window window_at(const struct walk *walk, int top, int left,
                                             const struct conv_norm *norm)
{
    const size_t channel = walk->block * LANES;
    struct window window = {.left = left,
                            .width = walk->width,
                            .scale = norm ? norm->scale + channel : NULL,
                            .shift = norm ? norm->shift + channel : NULL};
#pragma GCC unroll 6
    for (int i = 0; i < WINOGRAD_TILE; i++) {
        const bool inside = (unsigned)(top + i) < (unsigned)walk->height;
        const ptrdiff_t at = (ptrdiff_t)(top + i) * walk->width + left;
        window.row[i] = inside ? walk->image + at * LANES : NULL;
    }
    return window;
}

/* What is outside the image is zero, not what BatchNorm makes of zero. */
static inline TARGET vector pixel_of(const struct window *window, int i, int j)
{
    if ((unsigned)(window->left + j) >= (unsigned)window->width || !window->row[i])
        return v_zero();
    const vector x = n_load(window->row[i] + j * LANES);
    return window->scale
               ? n_rounded(v_max(v_fma(x, v_load(window->scale), v_load(window->shift)), v_zero()))
               : x;
}

/* Of `inputs` numbers to the points, of which -2 is there where `outputs` is WINOGRAD_TILE. */
struct side_map {
    int inputs, outputs;
    void (*map)(const vector *in, vector *out);
};

/*
 * Map the columns of a window, then its rows: point (i, j) goes to
 * out[(i * WINOGRAD_TILE + j) * stride].
 */
static inline __attribute__((always_inline)) TARGET void map_window(const struct window *window,
                                                                    const struct side_map high,
                                                                    const struct side_map wide,
                                                                    float *out, size_t stride)
{
    vector half[WINOGRAD_TILE][WINOGRAD_TILE];
#define THERE(side, point) ((side).outputs == WINOGRAD_TILE || (point) != WINOGRAD_SKIPPED)
#pragma GCC unroll 6
    for (int j = 0; j < wide.inputs; j++) {
        vector in[WINOGRAD_TILE], line[WINOGRAD_TILE];
#pragma GCC unroll 6
        for (int i = 0; i < high.inputs; i++)
            in[i] = pixel_of(window, i, j);
        high.map(in, line);
#pragma GCC unroll 6
        for (int i = 0; i < WINOGRAD_TILE; i++)
            if (THERE(high, i))
                half[i][j] = line[i];
    }
#pragma GCC unroll 6
    for (int i = 0; i < WINOGRAD_TILE; i++) {
        vector line[WINOGRAD_TILE];
        if (!THERE(high, i))
            continue;
        wide.map(half[i], line);
#pragma GCC unroll 6
        for (int j = 0; j < WINOGRAD_TILE; j++)
            if (THERE(wide, j))
                v_store(out + (size_t)(i * WINOGRAD_TILE + j) * stride, line[j]);
    }
#undef THERE
}

/* Map a tile by its kind. */
static inline __attribute__((always_inline)) TARGET void
map_tile(const struct walk *walk, const struct window *window, const struct side_map three,
         const struct side_map four, float *out)
{
    const size_t stride = walk->w->made;
    if (walk->high == 4 && walk_four(walk))
        map_window(window, four, four, out, stride);
    else if (walk->high == 4)
        map_window(window, four, three, out, stride);
    else if (walk_four(walk))
        map_window(window, three, four, out, stride);
    else
        map_window(window, three, three, out, stride);
}

static TARGET void transform_input(const struct winograd_weights *w,
                                   const struct winograd_chunk *chunk, const void *x, int group,
                                   size_t from, size_t count, float *v)
{
    const struct conv_shape *s = w->shape;
    struct walk walk = walk_start(w, chunk, x, s->in_h, s->in_w, s->in, group, from, count);
    struct walk ahead = walk_ahead(walk);
    for (; walk.block < walk.end; walk_next(&walk)) {
        const struct window window = window_at(
            &walk, walk.top - s->pad_h, winograd_start(&w->wide, walk.tile) - s->pad_w, w->norm);
        walk_fetch(&ahead);
        map_tile(&walk, &window, (struct side_map){5, 5, input_3}, (struct side_map){6, 6, input_4},
                 walk_panel(&walk, v));
    }
}

static TARGET void transform_gradient(const struct winograd_weights *w,
                                      const struct winograd_chunk *chunk, const void *dy, int group,
                                      size_t from, size_t count, float *d)
{
    const struct conv_shape *s = w->shape;
    struct walk walk = walk_start(w, chunk, dy, s->out_h, s->out_w, s->out, group, from, count);
    struct walk ahead = walk_ahead(walk);
    for (; walk.block < walk.end; walk_next(&walk)) {
        const struct window window =
            window_at(&walk, walk.top, winograd_start(&w->wide, walk.tile), NULL);
        walk_fetch(&ahead);
        map_tile(&walk, &window, (struct side_map){3, 5, gradient_3},
                 (struct side_map){4, 6, gradient_4}, walk_panel(&walk, d));
    }
}
