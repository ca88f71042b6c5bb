/* SPDX-License-Identifier: MIT */

/*
 * The kernels of winograd_weights.h for a block that is one vector. Included like
 * kernels_blocked.h, behind winograd_transform.h.
 */

/* Input channels by vectors of the output that a product holds in registers. */
#define ROWS    (LANES / 2)
#define COLUMNS 2

/* How many tiles ahead memory is asked for what the transforms read. */
#define AHEAD 16

/* Whose D, in a panel, is the sum of all of a tile's pixels: both interpolate at 1. */
#define POINT_ONE (WINOGRAD_TILE + 1)

/* Blocks in group `group` of a tensor of `channels`. */
static inline int group_blocks(const struct winograd_weights *w, int channels, int group)
{
    const int rest = channels - group * w->width;
    return (rest < w->width ? rest : w->width) / LANES;
}

/* A walk through tiles of a group, block by block. */
struct walk {
    const struct winograd_weights *w;
    const float *data;
    int height, width;
    size_t planes;            /* blocks of all groups */
    size_t first, block, end; /* of the group */
    size_t from, tile, count; /* `tile` counts from `from` */
    struct winograd_position at;
};

static inline struct walk walk_start(const struct winograd_weights *w, const float *data,
                                     int height, int width, int channels, int group, size_t from,
                                     size_t count)
{
    const size_t first = (size_t)group * (size_t)(w->width / LANES);
    return (struct walk){.w = w,
                         .data = data,
                         .height = height,
                         .width = width,
                         .planes = (size_t)(channels / LANES),
                         .first = first,
                         .block = first,
                         .end = first + (size_t)group_blocks(w, channels, group),
                         .from = from,
                         .count = count,
                         .at = winograd_position_of(w, from)};
}

static inline void walk_next(struct walk *walk)
{
    if (++walk->tile < walk->count) {
        winograd_position_next(walk->w, &walk->at);
    } else {
        walk->tile = 0;
        walk->block++;
        walk->at = winograd_position_of(walk->w, walk->from);
    }
}

static inline struct winograd_image walk_image(const struct walk *walk)
{
    const size_t pixels = (size_t)walk->height * (size_t)walk->width;
    const size_t plane = walk->at.row * walk->planes + walk->block;
    return (struct winograd_image){walk->data + plane * pixels * LANES, walk->height, walk->width};
}

/* Where the point 0 of the tile goes. */
static inline float *walk_panel(const struct walk *walk, float *panels)
{
    return panels + walk->tile * (size_t)walk->w->width + (walk->block - walk->first) * LANES;
}

/*
 * Ask for the 4x4 pixels of the tile, and go on: their rows are too short for the processor to see
 * what comes next. To be inlined early, as GCC takes a function that only prefetches for one
 * without an effect, and drops the call.
 */
static inline __attribute__((always_inline)) void walk_fetch(struct walk *walk)
{
    if (walk->block == walk->end)
        return;
    const struct winograd_image image = walk_image(walk);
    const int y = walk->at.y * WINOGRAD_OUT, x = walk->at.x * WINOGRAD_OUT;
    const float *pixel = image.data + ((ptrdiff_t)y * image.w + x) * LANES;
    for (int i = 0; i < WINOGRAD_OUT && y + i < image.h; i++, pixel += (ptrdiff_t)image.w * LANES)
#pragma GCC unroll 4
        for (int j = 0; j < WINOGRAD_OUT * LANES; j += 16)
            __builtin_prefetch(pixel + j);
    walk_next(walk);
}

static inline struct walk walk_ahead(struct walk walk)
{
    for (int i = 0; i < AHEAD && walk.block < walk.end; i++)
        walk_next(&walk);
    return walk;
}

/* What the transform of the input reads. */
static inline TARGET void look_6(const struct walk *walk, float *copy,
                                 struct winograd_window *window)
{
    const struct winograd_image image = walk_image(walk);
    const struct conv_norm *norm = walk->w->norm;
    const int top = walk->at.y * WINOGRAD_OUT - walk->w->shape->pad_h;
    const int left = walk->at.x * WINOGRAD_OUT - walk->w->shape->pad_w;
    const size_t channel = walk->block * LANES;
    if (norm)
        winograd_look_norm(&image, top, left, v_load(norm->scale + channel),
                           v_load(norm->shift + channel), copy, window);
    else
        winograd_look(&image, top, left, copy, window);
}

static TARGET void transform_input(const struct winograd_weights *w, const float *x, int group,
                                   size_t from, size_t count, float *v)
{
    const struct conv_shape *s = w->shape;
    float copy[WINOGRAD_POINTS * LANES] __attribute__((aligned(64)));
    struct walk walk = walk_start(w, x, s->in_h, s->in_w, s->in, group, from, count);
    struct walk ahead = walk_ahead(walk);
    for (; walk.block < walk.end; walk_next(&walk)) {
        struct winograd_window window;
        walk_fetch(&ahead);
        look_6(&walk, copy, &window);
        winograd_input(&window, walk_panel(&walk, v), w->panel);
    }
}

/* (A d)[0..5] of four numbers. */
static inline TARGET void gradient_4(const vector d[WINOGRAD_OUT], vector t[WINOGRAD_TILE])
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

/* D = A d A^T of 4x4 pixels d: point p goes to out[p * stride]. */
static inline TARGET void gradient_tile(const float *const row[WINOGRAD_OUT], float *out,
                                        size_t stride)
{
    vector t[WINOGRAD_OUT][WINOGRAD_TILE];
#pragma GCC unroll 4
    for (int j = 0; j < WINOGRAD_OUT; j++) {
        vector d[WINOGRAD_OUT];
#pragma GCC unroll 4
        for (int i = 0; i < WINOGRAD_OUT; i++)
            d[i] = v_load(row[i] + j * LANES);
        gradient_4(d, t[j]);
    }
#pragma GCC unroll 6
    for (int i = 0; i < WINOGRAD_TILE; i++) {
        const vector d[WINOGRAD_OUT] = {t[0][i], t[1][i], t[2][i], t[3][i]};
        vector u[WINOGRAD_TILE];
        gradient_4(d, u);
#pragma GCC unroll 6
        for (int j = 0; j < WINOGRAD_TILE; j++)
            v_store(out + (size_t)(i * WINOGRAD_TILE + j) * stride, u[j]);
    }
}

/* The 4x4 pixels at (top, left), zeros where they hang over: copied to `copy` only then. */
static inline TARGET void look_4(const struct winograd_image *image, int top, int left, float *copy,
                                 const float *row[WINOGRAD_OUT])
{
    const float *first = image->data + ((ptrdiff_t)top * image->w + left) * LANES;
    const bool inside = top + WINOGRAD_OUT <= image->h && left + WINOGRAD_OUT <= image->w;
    for (int i = 0; i < WINOGRAD_OUT; i++) {
        const float *pixel = first + (ptrdiff_t)i * image->w * LANES;
        row[i] = inside ? pixel : copy + (ptrdiff_t)i * WINOGRAD_OUT * LANES;
        for (int j = 0; !inside && j < WINOGRAD_OUT; j++) {
            const bool there = top + i < image->h && left + j < image->w;
            v_store(copy + (ptrdiff_t)(i * WINOGRAD_OUT + j) * LANES,
                    there ? v_load(pixel + j * LANES) : v_zero());
        }
    }
}

static TARGET void transform_gradient(const struct winograd_weights *w, const float *dy, int group,
                                      size_t from, size_t count, float *d)
{
    const struct conv_shape *s = w->shape;
    float copy[WINOGRAD_OUT * WINOGRAD_OUT * LANES] __attribute__((aligned(64)));
    struct walk walk = walk_start(w, dy, s->out_h, s->out_w, s->out, group, from, count);
    struct walk ahead = walk_ahead(walk);
    for (; walk.block < walk.end; walk_next(&walk)) {
        const struct winograd_image image = walk_image(&walk);
        const float *row[WINOGRAD_OUT];
        walk_fetch(&ahead);
        look_4(&image, walk.at.y * WINOGRAD_OUT, walk.at.x * WINOGRAD_OUT, copy, row);
        gradient_tile(row, walk_panel(&walk, d), w->panel);
    }
}

/* sums[rows][columns vectors] (+)= V^T D of `count` tiles; all strides are `width`. */
static inline __attribute__((always_inline)) TARGET void
multiply_run(const float *v, const float *d, size_t count, size_t width, bool first, float *sums,
             int rows, int columns)
{
    vector sum[LANES][COLUMNS];
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 2
        for (int c = 0; c < columns; c++)
            sum[r][c] = v_zero();
    for (size_t t = 0; t < count; t++, v += width, d += width) {
        vector right[COLUMNS];
#pragma GCC unroll 2
        for (int c = 0; c < columns; c++)
            right[c] = v_load(d + c * LANES);
#pragma GCC unroll 16
        for (int r = 0; r < rows; r++) {
            const vector left = v_all(v[r]);
#pragma GCC unroll 2
            for (int c = 0; c < columns; c++)
                sum[r][c] = v_fma(left, right[c], sum[r][c]);
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 2
        for (int c = 0; c < columns; c++) {
            float *to = sums + (size_t)r * width + (size_t)c * LANES;
            if (!first)
                sum[r][c] += v_load(to);
            v_store(to, sum[r][c]);
        }
}

/* One run of tiles. */
static TARGET void multiply_square(const struct winograd_square *square, const float *v,
                                   const float *d, size_t count, size_t width, bool first,
                                   float *sums)
{
    const size_t ins = (size_t)square->ins, outs = (size_t)square->outs;
    size_t out = 0;
    for (; out + COLUMNS * LANES <= outs; out += COLUMNS * LANES)
        for (size_t in = 0; in < ins; in += ROWS)
            multiply_run(v + in, d + out, count, width, first, sums + in * width + out, ROWS,
                         COLUMNS);
    if (out < outs)
        for (size_t in = 0; in < ins; in += LANES)
            multiply_run(v + in, d + out, count, width, first, sums + in * width + out, LANES, 1);
}

static TARGET void multiply(const struct winograd_weights *w, const struct winograd_square *square,
                            const float *v, const float *d, size_t count, bool first, float *sums)
{
    const size_t width = (size_t)w->width;
    for (size_t t = 0; t < count; t += WINOGRAD_RUN) {
        const size_t run = count - t < WINOGRAD_RUN ? count - t : WINOGRAD_RUN;
        multiply_square(square, v + t * width, d + t * width, run, width, first && t == 0, sums);
    }
}

static TARGET void add_bias(const struct winograd_weights *w, const float *d, int outs,
                            size_t count, bool first, float *bias)
{
    const size_t width = (size_t)w->width;
    d += POINT_ONE * w->panel;
    for (int c = 0; c < outs; c += LANES)
        for (size_t t = 0; t < count; t += WINOGRAD_RUN) {
            vector sum = v_zero();
            for (size_t i = t; i < count && i < t + WINOGRAD_RUN; i++)
                sum += v_load(d + i * width + c);
            if (!first || t > 0)
                sum += v_load(bias + c);
            v_store(bias + c, sum);
        }
}

/* (G^T u)[0..2] of six numbers. */
static inline TARGET void finish_6(const vector u[WINOGRAD_TILE], vector g[3])
{
    const vector even = u[1] + u[2], odd = u[2] - u[1], even2 = u[3] + u[4], odd2 = u[3] - u[4];
    const vector sixth = v_all(1.0F / 6);
    g[0] = v_fma(v_all(0.25F), u[0], v_fma(v_all(1.0F / 24), even2, v_all(-1.0F / 6) * even));
    g[1] = v_fma(sixth, odd, v_all(1.0F / 12) * odd2);
    g[2] = v_fma(sixth, even2 - even, u[5]);
}

/* G^T u G of the sums u, those of point p at sums[p * stride], added up over parts. */
static inline TARGET void finish_vector(const struct winograd_weights *w, const float *sums,
                                        size_t stride, float *dw)
{
    vector t[3][WINOGRAD_TILE];
#pragma GCC unroll 6
    for (int j = 0; j < WINOGRAD_TILE; j++) {
        vector u[WINOGRAD_TILE], g[3];
#pragma GCC unroll 6
        for (int i = 0; i < WINOGRAD_TILE; i++) {
            const float *point = sums + (size_t)(i * WINOGRAD_TILE + j) * w->sums;
            u[i] = v_load(point);
            for (size_t part = 1; part < w->parts; part++)
                u[i] += v_load(point + part * stride);
        }
        finish_6(u, g);
#pragma GCC unroll 3
        for (int i = 0; i < 3; i++)
            t[i][j] = g[i];
    }
#pragma GCC unroll 3
    for (int i = 0; i < 3; i++) {
        vector g[3];
        finish_6(t[i], g);
#pragma GCC unroll 3
        for (int j = 0; j < 3; j++)
            v_store(dw + (ptrdiff_t)(i * 3 + j) * LANES * LANES, g[j]);
    }
}

static TARGET void finish(const struct winograd_weights *w, const struct winograd_square *square,
                          int in, const float *sums, size_t stride, float *dw)
{
    const size_t blocks = (size_t)(w->width / LANES), in_blocks = (size_t)(w->shape->in / LANES);
    const size_t filter = (size_t)9 * LANES * LANES;
    const size_t in_block = (size_t)square->in_group * blocks + (size_t)(in / LANES);
    const size_t out_block = (size_t)square->out_group * blocks;
    sums += (size_t)in * (size_t)w->width;
    dw += (out_block * in_blocks + in_block) * filter + (size_t)(in % LANES) * LANES;
    for (int out = 0; out < square->outs; out += LANES, dw += in_blocks * filter)
        finish_vector(w, sums + out, stride, dw);
}

static const struct winograd_weights_kernels winograd_weights_kernels = {
    .block = LANES,
    .input = transform_input,
    .gradient = transform_gradient,
    .multiply = multiply,
    .bias = add_bias,
    .finish = finish,
};

static bool fits(const struct conv_shape *shape)
{
    return winograd_weights_fits(shape, LANES);
}

static size_t scratch(const struct conv_shape *shape, int threads)
{
    return winograd_weights_scratch(shape, LANES, threads);
}

static void run(const struct conv_pass *pass)
{
    winograd_weights_run(pass, &winograd_weights_kernels);
}
