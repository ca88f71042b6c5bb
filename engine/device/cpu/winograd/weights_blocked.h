/* SPDX-License-Identifier: MIT */

/*
 * The products and the last step of winograd/weights.h for a block that is one vector. Included
 * like simd/blocked.h; WINOGRAD_WEIGHTS is the name of the kernel, WINOGRAD_TRANSFORMS and
 * WINOGRAD_TRANSFORMS_BF16 are those of the tables of weights_tiles.h for values of f32 and of
 * bf16.
 */

/* Input channels by vectors of the output that a product holds in registers. */
#define ROWS    (LANES / 2)
#define COLUMNS 2

#define LINE 16 /* floats of a cache line */

/*
 * sums[rows][columns vectors] (+)= V^T D of `count` tiles; all strides are `width`. The sums are
 * asked for long before they are needed, and of V and D what the next run will read: the processor
 * does not look beyond a page by itself.
 */
static inline __attribute__((always_inline)) TARGET void
multiply_run(const float *v, const float *d, size_t count, size_t width, bool first, float *sums,
             int rows, int columns)
{
    vector sum[LANES][COLUMNS];
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
#pragma GCC unroll 2
        for (int c = 0; c < columns; c++)
            sum[r][c] = v_zero();
        for (int c = 0; c < columns * LANES; c += LINE)
            __builtin_prefetch(sums + (size_t)r * width + c, 1);
    }
    for (size_t t = 0; t < count; t++, v += width, d += width) {
        vector right[COLUMNS];
        __builtin_prefetch(v + WINOGRAD_RUN * width);
        for (int c = 0; c < columns * LANES; c += LINE)
            __builtin_prefetch(d + WINOGRAD_RUN * width + c);
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
    size_t t = 0;
    do {
        const size_t run = count - t < WINOGRAD_RUN ? count - t : WINOGRAD_RUN;
        multiply_square(square, v + t * width, d + t * width, run, width, first && t == 0, sums);
        t += run;
    } while (t < count);
}

static TARGET void add_bias(const struct winograd_weights *w, const float *d, int outs,
                            size_t count, bool first, float *bias)
{
    const size_t width = (size_t)w->width;
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
    .transforms = {&WINOGRAD_TRANSFORMS, &WINOGRAD_TRANSFORMS_BF16},
    .multiply = multiply,
    .bias = add_bias,
    .finish = finish,
};

static bool fits(const struct conv_shape *shape)
{
    return winograd_weights_fits(shape, LANES);
}

static size_t scratch(const struct conv_shape *shape, enum conv_direction direction, int threads)
{
    (void)direction;
    return winograd_weights_scratch(shape, LANES, threads);
}

static void run(const struct conv_pass *pass)
{
    winograd_weights_run(pass, &winograd_weights_kernels);
}

const struct conv_kernel WINOGRAD_WEIGHTS = {.name = "winograd 4x4",
                                             .block = LANES,
                                             .direction = CONV_BACKWARD_WEIGHTS,
                                             .fits = fits,
                                             .scratch = scratch,
                                             .run = run,
                                             .fuses = true};
