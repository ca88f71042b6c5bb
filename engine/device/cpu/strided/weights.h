/* SPDX-License-Identifier: MIT */

/*
 * The maps of weights between the stored layout (conv/kernel.h) and the matrices of
 * strided/blocked.h, one for each pair of lines: a right factor of strided/multiply.h, [in][out],
 * or [out][in] for the data gradient. Each works on one block of `in` and one of `out`.
 */

struct weight_block {
    const struct strided_plan *plan;
    int taps;   /* of a side: 3 or 1 */
    size_t tap; /* where the block begins among the weights */
    int in, out;
};

static struct weight_block weight_block(const struct strided_plan *plan, int index)
{
    struct weight_block block = {.plan = plan,
                                 .taps = plan->h.lines > 1 ? 3 : 1,
                                 .in = index / (plan->out / LANES),
                                 .out = index % (plan->out / LANES)};
    const size_t place = (size_t)block.out * (size_t)(plan->in / LANES) + (size_t)block.in;
    block.tap = place * (size_t)(block.taps * block.taps) * LANES * LANES;
    return block;
}

static inline int weight_blocks(const struct strided_plan *plan)
{
    return (plan->in / LANES) * (plan->out / LANES);
}

/* Ask for the row `row` of each tap of the block that will be mapped next: they lie too far apart
 * for the processor to see what comes. */
static inline __attribute__((always_inline)) void fetch_taps(const struct weight_block *next,
                                                             const float *w, int row)
{
    if (row * LANES % 16 != 0)
        return;
    for (int tap = 0; tap < next->taps * next->taps; tap++)
        __builtin_prefetch(w + next->tap + (ptrdiff_t)(tap * LANES + row) * LANES);
}

static inline size_t weight_matrix(const struct strided_plan *plan)
{
    return strided_panel(plan->in, plan->out);
}

/* The 3x3 weights g, `tap` floats apart, to their lines, `matrix` floats apart. The numbers of
 * lines are constants here. */
static inline TARGET __attribute__((always_inline)) void map_taps(const float *g, ptrdiff_t tap,
                                                                  float *out, size_t matrix,
                                                                  const int rows, const int columns)
{
    vector column[3][STRIDED_LINES];
#pragma GCC unroll 3
    for (int j = 0; j < 3; j++) {
        const vector w[3] = {v_load(g + j * tap), v_load(g + (3 + j) * tap),
                             v_load(g + (6 + j) * tap)};
        taps_to_lines(w, rows, column[j]);
    }
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++) {
        const vector w[3] = {column[0][i], column[1][i], column[2][i]};
        vector u[STRIDED_LINES];
        taps_to_lines(w, columns, u);
#pragma GCC unroll 6
        for (int j = 0; j < columns; j++, out += matrix)
            v_store(out, u[j]);
    }
}

/* A block, whose rows go to places `step` floats apart, while `next` of `w` is fetched. */
static TARGET void map_block(const struct weight_block *b, const struct weight_block *next,
                             const float *w, const float *g, ptrdiff_t tap, float *u, size_t step)
{
    const size_t matrix = weight_matrix(b->plan);
    const bool six_rows = b->plan->h.lines > LINE_2, six_columns = b->plan->w.lines > LINE_2;
    for (int i = 0; i < LANES; i++, g += LANES, u += step) {
        fetch_taps(next, w, i);
        if (b->taps == 1)
            v_store(u, v_load(g));
        else if (six_rows && six_columns)
            map_taps(g, tap, u, matrix, 6, 6);
        else if (six_rows)
            map_taps(g, tap, u, matrix, 6, 5);
        else if (six_columns)
            map_taps(g, tap, u, matrix, 5, 6);
        else
            map_taps(g, tap, u, matrix, 5, 5);
    }
}

static TARGET void weights_forward(const struct weight_block *b, const struct weight_block *next,
                                   const float *w, float *out)
{
    size_t step;
    const size_t place = group_place(b->plan->out, b->plan->in, b->out, &step);
    map_block(b, next, w, w + b->tap, (ptrdiff_t)LANES * LANES,
              out + place + (size_t)(b->in * LANES) * step, step);
}

/* Backwards, the last tap of each side comes first. */
static TARGET void weights_data(const struct weight_block *b, const struct weight_block *next,
                                const float *w, float *out)
{
    const ptrdiff_t tap = (ptrdiff_t)LANES * LANES;
    const int taps = b->taps * b->taps;
    float turned[9 * LANES * LANES] ALIGNED;
    size_t step;
    const size_t place = group_place(b->plan->in, b->plan->out, b->in, &step);
    for (int i = 0; i < taps; i++)
        transpose_square(w + b->tap + i * tap, turned + i * tap);
    map_block(b, next, w, turned + (taps - 1) * tap, -tap,
              out + place + (size_t)(b->out * LANES) * step, step);
}

/* The sum of all copies of a vector, `copy` floats apart. */
static inline TARGET vector sum_copies(const float *from, size_t copy, int copies)
{
    vector sum = v_load(from);
    for (int i = 1; i < copies; i++)
        sum += v_load(from + (size_t)i * copy);
    return sum;
}

/* From the gradients of the forward matrices, added up over their copies, `copy` floats apart. */
static TARGET void weights_gradient(const struct weight_block *b, const float *du, size_t copy,
                                    float *dw)
{
    const int copies = b->plan->copies;
    const int rows = b->plan->h.lines, columns = b->plan->w.lines;
    size_t step;
    const size_t place = group_place(b->plan->out, b->plan->in, b->out, &step);
    for (int i = 0; i < LANES; i++) {
        const float *u = du + place + (size_t)(b->in * LANES + i) * step;
        float *g = dw + b->tap + (size_t)i * LANES;
        vector column[3][STRIDED_LINES];
        if (b->taps == 1) {
            v_store(g, sum_copies(u, copy, copies));
            continue;
        }
        for (int p = 0; p < rows; p++) {
            vector line[STRIDED_LINES], w[3];
            for (int q = 0; q < columns; q++)
                line[q] = sum_copies(u + (size_t)(p * columns + q) * weight_matrix(b->plan), copy,
                                     copies);
            lines_to_taps(line, columns, w);
            for (int j = 0; j < 3; j++)
                column[j][p] = w[j];
        }
        for (int j = 0; j < 3; j++) {
            vector w[3];
            lines_to_taps(column[j], rows, w);
            for (int k = 0; k < 3; k++)
                v_store(g + (size_t)(k * 3 + j) * LANES * LANES, w[k]);
        }
    }
}
