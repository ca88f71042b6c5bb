/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "tests/engine/device/cuda/kernels/cuda_tensor.h"

/* rows, channels as stored and real, picture, window. */
static const struct pool_case {
    int rows, channels, real, h, w, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;
} cases[] = {
    {1, 8, 6, 2, 2, 2, 2, 2, 2, 0, 0},     {3, 16, 16, 28, 28, 2, 2, 2, 2, 0, 0},
    {2, 24, 20, 13, 11, 3, 3, 2, 2, 1, 1}, {5, 8, 1, 9, 7, 3, 2, 1, 2, 1, 0},
    {1, 512, 512, 4, 4, 4, 4, 4, 4, 0, 0}, {2, 8, 8, 7, 8, 2, 3, 3, 4, 0, 1},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static struct pool_args args_of(const struct pool_case *c)
{
    return (struct pool_args){.x = {c->rows, c->h, c->w, c->channels, c->real},
                              .y = {c->rows, (c->h + 2 * c->pad_h - c->kernel_h) / c->stride_h + 1,
                                    (c->w + 2 * c->pad_w - c->kernel_w) / c->stride_w + 1,
                                    c->channels, c->real},
                              .kernel_h = c->kernel_h,
                              .kernel_w = c->kernel_w,
                              .stride_h = c->stride_h,
                              .stride_w = c->stride_w,
                              .pad_h = c->pad_h,
                              .pad_w = c->pad_w};
}

/* Number `c` of pixel (y, x), -1 outside of the picture. */
static long place(struct tensor_shape s, int row, int y, int x, int c)
{
    if (y < 0 || y >= s.h || x < 0 || x >= s.w)
        return -1;
    return (((long)row * s.h + y) * s.w + x) * s.channels + c;
}

/* For one number of the output: its window's taps as places of the input, -1 in the padding. */
static int window(const struct pool_args *a, long i, long places[64])
{
    const int c = (int)(i % a->y.channels), ox = (int)(i / a->y.channels % a->y.w);
    const int oy = (int)(i / a->y.channels / a->y.w % a->y.h);
    const int row = (int)(i / a->y.channels / a->y.w / a->y.h);
    int taps = 0;
    for (int ky = 0; ky < a->kernel_h; ky++)
        for (int kx = 0; kx < a->kernel_w; kx++)
            places[taps++] = place(a->x, row, oy * a->stride_h - a->pad_h + ky,
                                   ox * a->stride_w - a->pad_w + kx, c);
    return taps;
}

/* Of equal numbers the first; so some are made equal. */
START_TEST(maxima_and_their_places)
{
    const struct pool_args a = args_of(&cases[_i]);
    const size_t in = tensor_size(a.x), out = tensor_size(a.y);
    FOR_EACH_TYPE(type)
    {
        double *x = tensor_random(a.x, type, 0, 1), *want = calloc(out, sizeof *want);
        double *dy = tensor_random(a.y, type, 0, 2), *dx = calloc(in, sizeof *dx);
        for (size_t i = 0; i < in; i++)
            x[i] = i % 3 ? x[i] : round(x[i]);
        void *y = cuda_memory(NULL, out * cuda_type_size(type));
        void *back = cuda_memory(NULL, in * cuda_type_size(type));
        uint8_t *winners = cuda_memory(NULL, out), *places;
        void *from = tensor_put(x, in, type);
        cuda_done(kernel_maxpool(cuda_stream, type, &a, from, y, winners));
        cuda_done(kernel_maxpool_backward(cuda_stream, type, &a, tensor_put(dy, out, type), winners,
                                          back));
        places = cuda_copy(winners, out);
        for (size_t i = 0; i < out; i++) {
            long taps[64];
            const int count = window(&a, (long)i, taps);
            int best = -1;
            for (int k = 0; k < count; k++)
                if (taps[k] >= 0 && (best < 0 || x[taps[k]] > x[taps[best]]))
                    best = k;
            ck_assert_int_eq(places[i], best);
            want[i] = x[taps[best]];
            dx[taps[best]] += dy[i];
        }
        tensor_compare("maxima", tensor_get(y, out, type), want, out, type, 0);
        tensor_compare("gradient", tensor_get(back, in, type), dx, in, type, 1e-6);
        cuda_done(kernel_maxpool(cuda_stream, type, &a, from, y, NULL)); /* when evaluating */
        free(places);
        free(x);
        free(dy);
    }
}
END_TEST

START_TEST(not_a_number_is_the_maximum)
{
    const struct pool_args a = args_of(&cases[0]);
    float x[32] = {0};
    x[8] = NAN; /* channel 0 of the second pixel */
    float *y = cuda_memory(NULL, 32);
    uint8_t *winners = cuda_memory(NULL, 8);
    cuda_done(kernel_maxpool(cuda_stream, CUDA_F32, &a, cuda_memory(x, sizeof x), y, winners));
    double *got = cuda_vector_copy(y, 8);
    uint8_t *places = cuda_copy(winners, 8);
    ck_assert(isnan(got[0]) && got[1] == 0);
    ck_assert(places[0] == 1 && places[1] == 0);
    free(got);
    free(places);
}
END_TEST

static void check_averages(struct pool_args a)
{
    const size_t in = tensor_size(a.x), out = tensor_size(a.y);
    FOR_EACH_TYPE(type)
    {
        double *x = tensor_random(a.x, type, 0, 1), *want = calloc(out, sizeof *want);
        double *dy = tensor_random(a.y, type, 0, 2), *dx = calloc(in, sizeof *dx);
        void *y = cuda_memory(NULL, out * cuda_type_size(type));
        void *back = cuda_memory(NULL, in * cuda_type_size(type));
        cuda_done(kernel_avgpool(cuda_stream, type, &a, tensor_put(x, in, type), y));
        cuda_done(kernel_avgpool_backward(cuda_stream, type, &a, tensor_put(dy, out, type), back));
        for (size_t i = 0; i < out; i++) {
            long taps[64];
            const int count = window(&a, (long)i, taps);
            int counted = 0;
            for (int k = 0; k < count; k++)
                counted += taps[k] >= 0 || !a.exclude_pad;
            for (int k = 0; k < count; k++) {
                if (taps[k] < 0)
                    continue;
                want[i] += x[taps[k]] / counted;
                dx[taps[k]] += dy[i] / counted;
            }
        }
        tensor_compare("averages", tensor_get(y, out, type), want, out, type, 1e-6);
        tensor_compare("gradient", tensor_get(back, in, type), dx, in, type, 1e-6);
        free(x);
        free(dy);
    }
}

START_TEST(averages_with_and_without_the_padding)
{
    struct pool_args a = args_of(&cases[_i]);
    check_averages(a);
    a.exclude_pad = true;
    check_averages(a);
}
END_TEST

static const struct tensor_shape shapes[] = {
    {1, 1, 1, 8, 3}, {4, 4, 4, 512, 512}, {3, 7, 5, 24, 17}, {2, 28, 28, 64, 64}, {0, 4, 4, 8, 8},
};

START_TEST(means_of_whole_pictures)
{
    const struct tensor_shape s = shapes[_i];
    const size_t in = tensor_size(s), channels = (size_t)s.channels;
    const size_t pixels = (size_t)(s.h * s.w), out = (size_t)s.rows * channels;
    FOR_EACH_TYPE(type)
    {
        double *x = tensor_random(s, type, 1, 1), *want = calloc(out + 1, sizeof *want);
        double *dy =
            tensor_random((struct tensor_shape){s.rows, 1, 1, s.channels, s.real}, type, 0, 2);
        double *dx = calloc(in + 1, sizeof *dx);
        void *y = cuda_memory(NULL, out * cuda_type_size(type));
        void *back = cuda_memory(NULL, in * cuda_type_size(type));
        cuda_done(kernel_global_avgpool(cuda_stream, type, s, tensor_put(x, in, type), y));
        cuda_done(
            kernel_global_avgpool_backward(cuda_stream, type, s, tensor_put(dy, out, type), back));
        for (size_t i = 0; i < in; i++) {
            const size_t to = i / (pixels * channels) * channels + i % channels;
            want[to] += x[i] / (double)pixels;
            dx[i] = dy[to] / (double)pixels;
        }
        tensor_compare("means", tensor_get(y, out, type), want, out, type, 1e-6);
        tensor_compare("gradient", tensor_get(back, in, type), dx, in, type, 1e-7);
        free(x);
        free(dy);
    }
}
END_TEST

Suite *pool_suite(void)
{
    Suite *suite = suite_create("cuda pool");
    TCase *tests = tcase_create("cuda pool");
    tcase_add_checked_fixture(tests, cuda_setup, cuda_teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, maxima_and_their_places, 0, CASES);
    tcase_add_test(tests, not_a_number_is_the_maximum);
    tcase_add_loop_test(tests, averages_with_and_without_the_padding, 0, CASES);
    tcase_add_loop_test(tests, means_of_whole_pictures, 0, sizeof shapes / sizeof shapes[0]);
    suite_add_tcase(suite, tests);
    return suite;
}
