/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tests/engine/device/cuda/kernels/cuda_tensor.h"

/* rows, groups, channels of a group in and out, picture, window. */
static const struct grouped_case {
    int rows, groups, in, out, h, w, kernel_h, kernel_w, stride_h, stride_w, pad, dilation_h,
        dilation_w;
} cases[] = {
    {2, 8, 1, 1, 5, 6, 3, 3, 1, 1, 1, 1, 1},     {3, 20, 1, 1, 9, 7, 3, 2, 2, 1, 1, 1, 1},
    {2, 5, 1, 2, 6, 6, 3, 3, 1, 2, 0, 1, 1},     {1, 3, 4, 2, 8, 9, 3, 3, 1, 1, 2, 2, 1},
    {2, 2, 5, 7, 7, 8, 2, 3, 2, 3, 1, 2, 3},     {0, 8, 1, 1, 4, 4, 3, 3, 1, 1, 1, 1, 1},
    {40, 12, 1, 1, 17, 16, 3, 3, 1, 1, 1, 1, 1}, /* several runs of f32 sums */
};
enum { CASES = sizeof cases / sizeof cases[0] };

static int places(int size, int kernel, int stride, int pad, int dilation)
{
    return (size + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
}

static struct grouped_conv conv_of(const struct grouped_case *c)
{
    const int in = c->groups * c->in, out = c->groups * c->out;
    return (struct grouped_conv){
        .x = {c->rows, c->h, c->w, (in + 7) / 8 * 8, in},
        .y = {c->rows, places(c->h, c->kernel_h, c->stride_h, c->pad, c->dilation_h),
              places(c->w, c->kernel_w, c->stride_w, c->pad, c->dilation_w), (out + 7) / 8 * 8,
              out},
        .in = c->in,
        .out = c->out,
        .kernel_h = c->kernel_h,
        .kernel_w = c->kernel_w,
        .stride_h = c->stride_h,
        .stride_w = c->stride_w,
        .pad_h = c->pad,
        .pad_w = c->pad,
        .dilation_h = c->dilation_h,
        .dilation_w = c->dilation_w};
}

/* What the convolution and its gradients should be. */
struct wanted {
    const double *x, *w, *dy;
    double *y, *dx, *dw;
};

/* All products of one number of y, place `at`, channel `o`. */
static void add_products(const struct grouped_conv *c, const struct wanted *t, long at, int o)
{
    const int ox = (int)(at % c->y.w), oy = (int)(at / c->y.w % c->y.h);
    const long row = at / c->y.w / c->y.h, y = at * c->y.channels + o;
    for (int ky = 0; ky < c->kernel_h; ky++)
        for (int kx = 0; kx < c->kernel_w; kx++) {
            const int iy = oy * c->stride_h - c->pad_h + ky * c->dilation_h;
            const int ix = ox * c->stride_w - c->pad_w + kx * c->dilation_w;
            if (iy < 0 || iy >= c->x.h || ix < 0 || ix >= c->x.w)
                continue;
            for (int i = 0; i < c->in; i++) {
                const long x =
                    ((row * c->x.h + iy) * c->x.w + ix) * c->x.channels + o / c->out * c->in + i;
                const long w = ((o * (long)c->kernel_h + ky) * c->kernel_w + kx) * c->in + i;
                t->y[y] += t->x[x] * t->w[w];
                t->dx[x] += t->dy[y] * t->w[w];
                t->dw[w] += t->dy[y] * t->x[x];
            }
        }
}

static double *zeros(size_t count)
{
    double *list = calloc(count + 1, sizeof *list);
    ck_assert_ptr_nonnull(list);
    return list;
}

/* Weights are a tensor of one row per channel of y; those that fill up are zero. */
START_TEST(values_and_gradients)
{
    const struct grouped_conv c = conv_of(&cases[_i]);
    const size_t in = tensor_size(c.x), out = tensor_size(c.y);
    const struct tensor_shape filters = {c.y.real, c.kernel_h, c.kernel_w, c.in, c.in};
    const size_t used = tensor_size(filters);
    const size_t count = used / (size_t)c.y.real * (size_t)c.y.channels;
    FOR_EACH_TYPE(type)
    {
        double *x = tensor_random(c.x, type, 0, 1), *dy = tensor_random(c.y, type, 0, 2);
        double *some = tensor_random(filters, type, 0, 3), *w = zeros(count);
        const struct wanted t = {x, w, dy, zeros(out), zeros(in), zeros(used)};
        void *y = cuda_memory(NULL, out * cuda_type_size(type));
        void *dx = cuda_memory(NULL, in * cuda_type_size(type));
        float *dw = cuda_memory(NULL, count * sizeof *dw);
        memcpy(w, some, used * sizeof *w);
        const void *at_x = tensor_put(x, in, type), *at_dy = tensor_put(dy, out, type);
        const void *at_w = tensor_put(w, count, type);
        for (long at = 0; at < (long)out / c.y.channels; at++)
            for (int o = 0; o < c.y.real; o++)
                add_products(&c, &t, at, o);
        cuda_done(kernel_grouped_conv(cuda_stream, type, &c, at_x, at_w, y));
        cuda_done(kernel_grouped_conv_data(cuda_stream, type, &c, at_dy, at_w, dx));
        cuda_done(kernel_grouped_conv_weights(cuda_stream, type, &c, at_x, at_dy, dw));
        tensor_compare("values", tensor_get(y, out, type), t.y, out, type, 1e-5);
        tensor_compare("gradient of values", tensor_get(dx, in, type), t.dx, in, type, 1e-5);
        tensor_compare("gradient of weights", cuda_vector_copy(dw, used), t.dw, used, CUDA_F32,
                       1e-4);
        free(x);
        free(dy);
        free(some);
        free(w);
    }
}
END_TEST

Suite *grouped_suite(void)
{
    Suite *suite = suite_create("cuda convolution in groups");
    TCase *tests = tcase_create("cuda convolution in groups");
    tcase_add_checked_fixture(tests, cuda_setup, cuda_teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, values_and_gradients, 0, CASES);
    suite_add_tcase(suite, tests);
    return suite;
}
