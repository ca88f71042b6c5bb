/* SPDX-License-Identifier: MIT */

/*
 * The products of winograd/weights.h for values of bf16, for a block that is one vector, by
 * integers of 16 bits: see winograd/fixed.h. Included like weights_blocked.h.
 *
 * A run of tiles has a scale for each channel of V and of D at each point. It makes the length of
 * the vector of the run's numbers fit 16 bits. So does each number then, and whatever the numbers
 * are, no sum of the products of V and D leaves 32 bits: it is at most the product of both lengths
 * (Cauchy and Schwarz). Numbers below 1e-18 are lost, and with one above 1e18 the sums are NaN.
 *
 * The integers of a run are [tile / 2][width] pairs, of tiles 2i and 2i + 1.
 */

#define LENGTH       32600.0F /* of the numbers of a run */
#define LEAST_SQUARE 1e-30F   /* of that length before it is scaled */

#define RUN          WINOGRAD_SCALED_RUN
#define LINES(tiles) (((tiles) + 1) / 2) /* of a panel */
#define SHRINK       shrink

/* The scale of `count` numbers of a block's channels, `width` apart. */
static inline TARGET vector run_scale(const float *numbers, size_t count, size_t width)
{
    vector square = v_all(LEAST_SQUARE);
    for (size_t i = 0; i < count; i++, numbers += width) {
        const vector value = v_load(numbers);
        square = v_fma(value, value, square);
    }
    return v_sqrt(square) * v_all(1 / LENGTH);
}

static TARGET void shrink_run(const float *numbers, struct winograd_panel to, size_t count,
                              size_t width)
{
    const vector by = run_scale(numbers, count, width), factor = v_all(1) / by;
    v_store(to.scales, by);
    for (size_t i = 0; i < count; i += 2, numbers += 2 * width, to.numbers += width) {
        const vector second = i + 1 < count ? v_load(numbers + width) : v_zero();
        v_store_words(to.numbers, v_pairs(v_load(numbers) * factor, second * factor));
    }
}

static TARGET void shrink(const struct winograd_weights *w, int channels, size_t count,
                          const float *numbers, struct winograd_panel to)
{
    const size_t width = (size_t)w->width;
    size_t t = 0;
    do { /* no tiles have a scale, too, as their products are added up */
        const size_t run = count - t < RUN ? count - t : RUN;
        for (int c = 0; c < channels; c += LANES)
            shrink_run(numbers + t * width + c, panel_from(to, (size_t)c), run, width);
        t += run;
        to = panel_after(to, LINES(run), width);
    } while (t < count);
}

/* sums[rows][columns vectors] (+)= V^T D of a run of `count` tiles; all strides are `width`. */
static inline __attribute__((always_inline)) TARGET void
multiply_run(struct winograd_panel v, struct winograd_panel d, size_t count, size_t width,
             bool first, float *sums, int rows, int columns)
{
    const int32_t *left = (const int32_t *)v.numbers, *right = (const int32_t *)d.numbers;
    v_words sum[LANES][COLUMNS];
    vector scale[COLUMNS];
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
#pragma GCC unroll 2
        for (int c = 0; c < columns; c++)
            sum[r][c] = v_all_words(0);
        for (int c = 0; c < columns * LANES; c += LINE)
            __builtin_prefetch(sums + (size_t)r * width + c, 1);
    }
    for (size_t t = 0; t < count; t += 2, left += width, right += width) {
        v_words both[COLUMNS];
        __builtin_prefetch(left + LINES(RUN) * width);
        for (int c = 0; c < columns * LANES; c += LINE)
            __builtin_prefetch(right + LINES(RUN) * width + c);
#pragma GCC unroll 2
        for (int c = 0; c < columns; c++)
            both[c] = v_load_words(right + c * LANES);
#pragma GCC unroll 16
        for (int r = 0; r < rows; r++) {
            const v_words value = v_all_pairs(left + r);
#pragma GCC unroll 2
            for (int c = 0; c < columns; c++)
                sum[r][c] = v_dot(sum[r][c], both[c], value);
        }
    }
#pragma GCC unroll 2
    for (int c = 0; c < columns; c++)
        scale[c] = v_load(d.scales + c * LANES);
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 2
        for (int c = 0; c < columns; c++) {
            float *to = sums + (size_t)r * width + (size_t)c * LANES;
            const vector value = v_of_words(sum[r][c]) * scale[c];
            v_store(to, v_fma(value, v_all(v.scales[r]), first ? v_zero() : v_load(to)));
        }
}
