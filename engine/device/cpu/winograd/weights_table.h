/* SPDX-License-Identifier: MIT */

/*
 * The products of squares, the bias and the last step of winograd/weights.h, and the table,
 * WINOGRAD_WEIGHTS. Included after weights_tiles.h and then weights_blocked.h or weights_fixed.h.
 */

/* One run of tiles. */
static TARGET void multiply_square(const struct winograd_square *square, struct winograd_panel v,
                                   struct winograd_panel d, size_t count, size_t width, bool first,
                                   float *sums)
{
    const size_t ins = (size_t)square->ins, outs = (size_t)square->outs;
    size_t out = 0;
    for (; out + COLUMNS * LANES <= outs; out += COLUMNS * LANES)
        for (size_t in = 0; in < ins; in += ROWS)
            multiply_run(panel_from(v, in), panel_from(d, out), count, width, first,
                         sums + in * width + out, ROWS, COLUMNS);
    if (out < outs)
        for (size_t in = 0; in < ins; in += LANES)
            multiply_run(panel_from(v, in), panel_from(d, out), count, width, first,
                         sums + in * width + out, LANES, 1);
}

static TARGET void multiply(const struct winograd_weights *w, const struct winograd_square *square,
                            struct winograd_panel v, struct winograd_panel d, size_t count,
                            bool first, float *sums)
{
    const size_t width = (size_t)w->width;
    size_t t = 0;
    do {
        const size_t run = count - t < RUN ? count - t : RUN;
        multiply_square(square, v, d, run, width, first && t == 0, sums);
        t += run;
        v = panel_after(v, LINES(run), width);
        d = panel_after(d, LINES(run), width);
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

const struct winograd_weights_kernels WINOGRAD_WEIGHTS = {.block = LANES,
                                                          .input = transform_input,
                                                          .gradient = transform_gradient,
                                                          .shrink = SHRINK,
                                                          .multiply = multiply,
                                                          .bias = add_bias,
                                                          .finish = finish};
