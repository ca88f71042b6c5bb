/* SPDX-License-Identifier: MIT */

/* Linear layers of lanes/kernels.h. */

static TARGET void linear(int in, int out, enum lanes_act act, const float *x, const float *w,
                          const float *bias, float *y)
{
    struct lanes_product t = {
        .planes = 1, .rows = 1, .columns = in, .x_column = LANES, .y_output = LANES};
    for (int o = 0, size; o < out; o += size) {
        size = lanes_linear_block(out - o, LINEAR_OUTPUTS);
        t.w_column = size;
        product_tall(&t, x, w + (ptrdiff_t)o * in, bias ? bias + o : NULL, y + o * LANES, size);
    }
    act_in_place(act, y, out);
}

static TARGET void linear_data(int in, int out, const float *dy, const float *w, float *dx)
{
    const struct lanes_product t = {.planes = 1,
                                    .rows = 1,
                                    .columns = out,
                                    .x_column = LANES,
                                    .w_column = in,
                                    .y_output = LANES};
    for (int i = 0, size; i < in; i += size) {
        size = lanes_linear_block(in - i, LINEAR_OUTPUTS);
        product_tall(&t, dy, w + i, NULL, dx + i * LANES, size);
    }
}

/* Results are whole vectors except the last of a row, which is copied from `last`. */
static TARGET void linear_weights(int rows, int in, int out, const float *x, ptrdiff_t x_stride,
                                  const float *dy, ptrdiff_t dy_stride, float *dw)
{
    float last[CONV_OUTPUTS][LANES];
    const int whole = in / LANES;
    struct lanes_product t = {
        .planes = 1, .rows = 1, .columns = rows, .x_column = x_stride, .w_column = dy_stride};
    for (int o = 0, size; o < out; o += size) {
        size = lanes_conv_block(out, CONV_OUTPUTS, o);
        t.y_output = in;
        for (int i = 0, vectors; i < whole; i += vectors) {
            vectors = vectors_at_once(whole - i);
            product(&t, x + i * LANES, dy + o, NULL, dw + (ptrdiff_t)o * in + i * LANES, size,
                    vectors);
        }
        if (whole * LANES == in)
            continue;
        t.y_output = LANES;
        product(&t, x + whole * LANES, dy + o, NULL, last[0], size, 1);
        for (int k = 0; k < size; k++)
            memcpy(dw + (ptrdiff_t)(o + k) * in + whole * LANES, last[k],
                   (size_t)(in - whole * LANES) * sizeof(float));
    }
}
