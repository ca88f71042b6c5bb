/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "tests/engine/device/cuda/kernels/cuda_tensor.h"

/* Shapes with little and much of everything; `large` gives a thread of the simulated GPU more packs
 * than it takes at a time. */
static const struct tensor_shape shapes[] = {
    {1, 1, 1, 8, 3},   {1, 1, 1, 512, 512}, {3, 1, 1, 128, 120},
    {2, 5, 3, 24, 17}, {7, 3, 3, 8, 1},     {3, 9, 7, 64, 64},
};
static const struct tensor_shape large = {23, 14, 13, 64, 64};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static double value_of(enum activation f, double x)
{
    switch (f) {
    case ACTIVATION_RELU:
        return x > 0 ? x : 0;
    case ACTIVATION_SIGMOID:
        return 1 / (1 + exp(-x));
    case ACTIVATION_TANH:
        return tanh(x);
    case ACTIVATION_GELU:
        return x * erfc(-x / sqrt(2)) / 2;
    case ACTIVATION_GELU_TANH:
        return x / 2 * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * pow(x, 3))));
    case ACTIVATION_SILU:
        return x / (1 + exp(-x));
    case ACTIVATION_HARDSWISH:
        return x * fmin(fmax(x + 3, 0), 6) / 6;
    }
    return NAN;
}

/* From the result where that is kept, else from the argument, by a central difference. */
static double slope_of(enum activation f, double kept)
{
    const double step = 1e-5;
    switch (f) {
    case ACTIVATION_RELU:
        return kept > 0;
    case ACTIVATION_SIGMOID:
        return kept * (1 - kept);
    case ACTIVATION_TANH:
        return 1 - kept * kept;
    case ACTIVATION_HARDSWISH:
        return kept < -3 ? 0 : kept > 3 ? 1 : kept / 3 + 0.5;
    default:
        return (value_of(f, kept + step) - value_of(f, kept - step)) / (2 * step);
    }
}

static void check_activation(struct tensor_shape s, enum cuda_type type, enum activation f,
                             bool biased, bool in_place)
{
    const size_t count = tensor_size(s);
    double *x = tensor_random(s, type, 0, 1), *bias = vector_random(s.channels, s.real, 0.5, 2);
    void *from = tensor_put(x, count, type);
    void *to = in_place ? from : cuda_memory(NULL, count * cuda_type_size(type));
    cuda_done(kernel_activation(cuda_stream, type, f, s, from,
                                biased ? cuda_vector(bias, (size_t)s.channels) : NULL, to));
    double *y = tensor_get(to, count, type);
    tensor_padding_is_zero(y, s);
    for (size_t i = 0; i < count; i++) {
        const int c = (int)(i % (size_t)s.channels);
        x[i] = c < s.real ? value_of(f, x[i] + (biased ? bias[c] : 0)) : 0;
    }
    tensor_compare("activation", y, x, count, type, 1e-6);
    free(bias);
}

START_TEST(activations_and_their_bias)
{
    FOR_EACH_TYPE(type)
    {
        for (int f = ACTIVATION_RELU; f <= ACTIVATION_HARDSWISH; f++) {
            check_activation(shapes[_i], type, (enum activation)f, true, false);
            check_activation(shapes[_i], type, (enum activation)f, false, true);
        }
    }
}
END_TEST

START_TEST(activations_of_many_packs)
{
    check_activation(large, CUDA_BF16, ACTIVATION_RELU, true, true);
}
END_TEST

START_TEST(bias_alone)
{
    const struct tensor_shape s = shapes[_i];
    const size_t count = tensor_size(s);
    FOR_EACH_TYPE(type)
    {
        double *x = tensor_random(s, type, 0, 1), *bias = vector_random(s.channels, s.real, 0, 2);
        void *at = tensor_put(x, count, type);
        cuda_done(kernel_bias(cuda_stream, type, s, at, cuda_vector(bias, (size_t)s.channels), at));
        for (size_t i = 0; i < count; i++)
            x[i] += bias[i % (size_t)s.channels];
        tensor_compare("bias", tensor_get(at, count, type), x, count, type, 1e-6);
        free(bias);
    }
}
END_TEST

START_TEST(leaky_relu)
{
    const struct tensor_shape s = shapes[_i];
    const size_t count = tensor_size(s);
    const float slope = 0.25f;
    FOR_EACH_TYPE(type)
    {
        double *x = tensor_random(s, type, 0, 1), *dy = tensor_random(s, type, 0, 2);
        void *y = tensor_put(x, count, type), *at = tensor_put(dy, count, type);
        cuda_done(kernel_leaky_relu(cuda_stream, type, slope, s, y, y));
        cuda_done(kernel_leaky_relu_backward(cuda_stream, type, slope, s, y, at, at));
        for (size_t i = 0; i < count; i++) {
            dy[i] *= x[i] > 0 ? 1 : 0.25;
            x[i] *= x[i] > 0 ? 1 : 0.25;
        }
        double *result = tensor_get(y, count, type);
        tensor_padding_is_zero(result, s);
        tensor_compare("leaky ReLU", result, x, count, type, 1e-6);
        tensor_compare("its gradient", tensor_get(at, count, type), dy, count, type, 1e-6);
    }
}
END_TEST

START_TEST(gradients_of_activations)
{
    const struct tensor_shape s = shapes[_i];
    const size_t count = tensor_size(s);
    FOR_EACH_TYPE(type)
    {
        for (int f = ACTIVATION_RELU; f <= ACTIVATION_HARDSWISH; f++) {
            double *y = tensor_random(s, type, 0, 1), *dy = tensor_random(s, type, 0, 2);
            for (size_t i = 0; i < count; i++)
                y[i] = tensor_rounded(
                    f < ACTIVATION_GELU ? value_of((enum activation)f, y[i]) : 4 * y[i], type);
            void *at = tensor_put(dy, count, type);
            cuda_done(kernel_activation_backward(cuda_stream, type, (enum activation)f, s,
                                                 tensor_put(y, count, type), at, at));
            for (size_t i = 0; i < count; i++)
                dy[i] *= slope_of((enum activation)f, y[i]);
            tensor_compare("gradient", tensor_get(at, count, type), dy, count, type,
                           f < ACTIVATION_GELU ? 1e-6 : 5e-6);
            free(y);
        }
    }
}
END_TEST

START_TEST(additions)
{
    const struct tensor_shape s = shapes[_i];
    const size_t count = tensor_size(s);
    FOR_EACH_TYPE(type)
    {
        for (int relu = 0; relu < 2; relu++) {
            double *a = tensor_random(s, type, 0, 1), *b = tensor_random(s, type, 0, 2);
            void *left = tensor_put(a, count, type), *right = tensor_put(b, count, type);
            void *to = relu ? right : left;
            cuda_done(kernel_add(cuda_stream, type, count, left, right, relu, to));
            for (size_t i = 0; i < count; i++)
                a[i] = relu && a[i] + b[i] < 0 ? 0 : a[i] + b[i];
            tensor_compare("sum", tensor_get(to, count, type), a, count, type, 0);
            free(b);
        }
    }
}
END_TEST

START_TEST(conversions)
{
    const struct tensor_shape s = shapes[_i];
    const size_t count = tensor_size(s);
    FOR_EACH_TYPE(from)
    {
        FOR_EACH_TYPE(to)
        {
            double *x = tensor_random(s, from, 0, 1);
            void *y = cuda_memory(NULL, count * cuda_type_size(to));
            cuda_done(kernel_convert(cuda_stream, from, tensor_put(x, count, from), to, y, count));
            double *got = tensor_get(y, count, to);
            for (size_t i = 0; i < count; i++)
                ck_assert_double_eq(got[i], tensor_rounded(x[i], to));
            free(got);
            free(x);
        }
    }
}
END_TEST

START_TEST(sums_of_channels)
{
    const struct tensor_shape s = _i < SHAPES ? shapes[_i] : large;
    const size_t count = tensor_size(s), channels = (size_t)s.channels;
    FOR_EACH_TYPE(type)
    {
        double *x = tensor_random(s, type, 0.5, 1), *want = calloc(channels, sizeof *want);
        void *from = tensor_put(x, count, type);
        float *sums = cuda_memory(NULL, 4 * channels), *again = cuda_memory(NULL, 4 * channels);
        const struct sums_memory memory = cuda_sums_memory(s);
        cuda_done(kernel_channel_sums(cuda_stream, type, s, from, memory, sums));
        cuda_done(kernel_channel_sums(cuda_stream, type, s, from, memory, again));
        same_bits(sums, again, 4 * channels);
        cuda_counters_are_zero(memory);
        for (size_t i = 0; i < count; i++)
            want[i % channels] += x[i];
        tensor_compare("sums", cuda_vector_copy(sums, channels), want, channels, CUDA_F32, 1e-4);
        free(x);
    }
}
END_TEST

START_TEST(flattening_and_back)
{
    const struct tensor_shape s = shapes[_i];
    const size_t count = tensor_size(s), pixels = (size_t)(s.h * s.w);
    const size_t width = (size_t)cuda_padded(s.real * s.h * s.w), flat = (size_t)s.rows * width;
    FOR_EACH_TYPE(type)
    {
        double *x = tensor_random(s, type, 0, 1), *want = calloc(flat, sizeof *want);
        void *to = cuda_memory(NULL, flat * cuda_type_size(type));
        void *back = cuda_memory(NULL, count * cuda_type_size(type));
        cuda_done(kernel_flatten(cuda_stream, type, s, tensor_put(x, count, type), to));
        cuda_done(kernel_unflatten(cuda_stream, type, s, to, back));
        for (size_t i = 0; i < count; i++) {
            const size_t c = i % (size_t)s.channels, place = i / (size_t)s.channels;
            if (c < (size_t)s.real)
                want[place / pixels * width + c * pixels + place % pixels] = x[i];
        }
        tensor_compare("flat", tensor_get(to, flat, type), want, flat, type, 0);
        tensor_compare("back", tensor_get(back, count, type), x, count, type, 0);
    }
}
END_TEST

START_TEST(nothing_is_done_to_no_rows)
{
    struct tensor_shape s = {0, 4, 4, 16, 16};
    float *sums = cuda_memory(NULL, 64);
    void *none = cuda_memory(NULL, 16);
    cuda_done(kernel_activation(cuda_stream, CUDA_BF16, ACTIVATION_RELU, s, none, NULL, none));
    cuda_done(kernel_add(cuda_stream, CUDA_F32, 0, none, none, false, none));
    cuda_done(kernel_channel_sums(cuda_stream, CUDA_F32, s, none, cuda_sums_memory(s), sums));
    double *got = cuda_vector_copy(sums, 16);
    for (int c = 0; c < 16; c++)
        ck_assert_double_eq(got[c], 0);
    free(got);
}
END_TEST

/* Spans of lengths that blocks do not divide; what lies between them is left alone. */
START_TEST(gradients_are_widened)
{
    static const size_t counts[] = {8, 4096, 0, 4104, 12296, 16};
    enum { SPANS = sizeof counts / sizeof counts[0], GAP = 16, ALL = 20520 + SPANS * GAP };
    const struct tensor_shape s = {1, 1, 1, ALL, ALL};
    struct widen_span spans[SPANS];
    double *x = tensor_random(s, CUDA_BF16, 0, 1), *want = calloc(ALL, sizeof *want);
    uint16_t *from = tensor_put(x, ALL, CUDA_BF16);
    float *to = cuda_vector(want, ALL);
    size_t at = 0;
    for (int k = 0; k < SPANS; k++) {
        spans[k] = (struct widen_span){from + at, to + at, counts[k]};
        memcpy(want + at, x + at, counts[k] * sizeof *x);
        at += counts[k] + GAP;
    }
    ck_assert_uint_le(at, ALL);
    cuda_done(kernel_widen(cuda_stream, spans, SPANS));
    tensor_compare("gradients", cuda_vector_copy(to, ALL), want, ALL, CUDA_F32, 0);
    ck_assert_int_ne(kernel_widen(cuda_stream, spans, WIDEN_SPANS + 1), cudaSuccess);
    free(x);
}
END_TEST

#define HOST_CASE(RULE, rule, states)                                                              \
    case UPDATE_##RULE:                                                                            \
        return update_##rule(w, g, a, b, step);

static float host_update(enum update_rule rule, float w, float g, float *a, float *b,
                         const struct optimizer_step *step)
{
    switch (rule) {
        UPDATE_RULES(HOST_CASE)
    }
    return NAN;
}

/* The same numbers as on a host, up to the last bits, by every rule; with and without a copy. */
static void check_update(enum update_rule rule, int states, size_t count, bool copied)
{
    const struct tensor_shape s = {1, 1, 1, (int)count, (int)count};
    const struct optimizer_step step = {rule, 0.125F, 0.5F,    0.25F, 0.875F, 0.75F, 0.25F, 0.5F,
                                        0.5F, 1.25F,  0.0625F, 0,     0,      0,     0,     0};
    double *w = tensor_random(s, CUDA_F32, 0, 1), *g = tensor_random(s, CUDA_F32, 0, 2), *v[2];
    struct update_arrays arrays = {.params = cuda_vector(w, count),
                                   .grads = cuda_vector(g, count),
                                   .copy = copied ? cuda_memory(NULL, 2 * count) : NULL};
    for (int k = 0; k < 2; k++) {
        v[k] = tensor_random(s, CUDA_F32, 0, 3 + (unsigned)k);
        for (size_t i = 0; i < count; i++)
            v[k][i] = fabs(v[k][i]);
        arrays.state[k] = k < states ? cuda_vector(v[k], count) : NULL;
    }
    cuda_done(kernel_update(cuda_stream, rule, count, &arrays, cuda_memory(&step, sizeof step)));
    for (size_t i = 0; i < count; i++) {
        float first = (float)v[0][i], second = (float)v[1][i];
        w[i] = (double)host_update(rule, (float)w[i], (float)g[i], &first, &second, &step);
        v[0][i] = (double)first;
        v[1][i] = (double)second;
    }
    double *now = cuda_vector_copy(arrays.params, count);
    if (copied) {
        double *rounded = tensor_get(arrays.copy, count, CUDA_BF16);
        for (size_t i = 0; i < count; i++)
            ck_assert_double_eq(rounded[i], tensor_rounded(now[i], CUDA_BF16));
        free(rounded);
    }
    tensor_compare("grads", cuda_vector_copy((float *)arrays.grads, count), g, count, CUDA_F32, 0);
    for (int k = 0; k < 2; k++)
        if (k < states)
            tensor_compare("state", cuda_vector_copy(arrays.state[k], count), v[k], count, CUDA_F32,
                           1e-6);
        else
            free(v[k]);
    tensor_compare("params", now, w, count, CUDA_F32, 1e-6);
}

#define CHECK(RULE, rule, states)                                                                  \
    check_update(UPDATE_##RULE, states, counts[_i], true);                                         \
    check_update(UPDATE_##RULE, states, counts[_i], false);

START_TEST(updates_are_those_of_a_host)
{
    const size_t counts[] = {4, 16, 1020, 60000};
    UPDATE_RULES(CHECK)
}
END_TEST

/* Gradients in the middle of others; *got is what the device has of them. */
static void gradient_norm_of(const double *g, size_t count, float clip, struct gradient_norm *got)
{
    const struct optimizer_step step = {.clip = clip};
    struct gradient_norm *norm = cuda_memory(NULL, sizeof *norm);
    cuda_done(
        kernel_gradient_squares(cuda_stream, count, cuda_vector(g, count), norm, &norm->squares));
    cuda_done(kernel_gradient_norm(cuda_stream, cuda_memory(&step, sizeof step), norm));
    /* Without the parts of the sum, of which few are written. */
    const size_t at = offsetof(struct gradient_norm, squares);
    ck_assert_int_eq(cudaMemcpy((char *)got + at, (const char *)norm + at, sizeof *got - at,
                                cudaMemcpyDeviceToHost),
                     cudaSuccess);
}

START_TEST(norms_of_gradients)
{
    const size_t counts[] = {4, 1020, 300000};
    const size_t count = counts[_i];
    const struct tensor_shape s = {1, 1, 1, (int)count, (int)count};
    double *g = tensor_random(s, CUDA_F32, 0, 7), sum = 0;
    struct gradient_norm got;
    for (size_t i = 0; i < count; i++)
        sum += g[i] * g[i];
    gradient_norm_of(g, count, 0.5F, &got);
    ck_assert_double_eq_tol((double)got.norm, sqrt(sum), 1e-7 * sqrt(sum));
    ck_assert_double_eq_tol((double)got.scale, 0.5 / (sqrt(sum) + 1e-6), 1e-7);
    gradient_norm_of(g, count, 1e6F, &got);
    ck_assert(got.scale == 1);
    g[count / 2] = NAN;
    gradient_norm_of(g, count, 0.5F, &got);
    ck_assert(isnan(got.norm) && isnan(got.scale));
    free(g);
}
END_TEST

START_TEST(sums_of_sources)
{
    enum { COUNT = 1028, SOURCES = 5 };
    const struct tensor_shape s = {1, 1, 1, COUNT, COUNT};
    for (int place = 0; place < SOURCES; place++) {
        double want[COUNT] = {0}, *x;
        const float *sources[SOURCES];
        float *sum = NULL;
        for (int k = 0; k < SOURCES; k++) {
            x = tensor_random(s, CUDA_F32, 0, (unsigned)k);
            float *source = cuda_vector(x, COUNT);
            sources[k] = source;
            sum = k == place ? source : sum;
            for (int i = 0; i < COUNT; i++)
                want[i] = (double)((float)want[i] + (float)x[i]); /* in order, in f32 */
            free(x);
        }
        cuda_done(kernel_sum_sources(cuda_stream, COUNT, sources, SOURCES, sum));
        double *got = cuda_vector_copy(sum, COUNT);
        for (int i = 0; i < COUNT; i++)
            ck_assert_double_eq(got[i], want[i]);
        free(got);
    }
    ck_assert_int_ne(kernel_sum_sources(cuda_stream, 4, NULL, 65, NULL), cudaSuccess);
}
END_TEST

Suite *elementwise_suite(void)
{
    Suite *suite = suite_create("cuda elementwise");
    TCase *tests = tcase_create("cuda elementwise");
    tcase_add_checked_fixture(tests, cuda_setup, cuda_teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, activations_and_their_bias, 0, SHAPES);
    tcase_add_test(tests, activations_of_many_packs);
    tcase_add_loop_test(tests, bias_alone, 0, SHAPES);
    tcase_add_loop_test(tests, leaky_relu, 0, SHAPES);
    tcase_add_loop_test(tests, gradients_of_activations, 0, SHAPES);
    tcase_add_loop_test(tests, additions, 0, SHAPES);
    tcase_add_loop_test(tests, conversions, 0, SHAPES);
    tcase_add_loop_test(tests, sums_of_channels, 0, SHAPES + 1);
    tcase_add_loop_test(tests, flattening_and_back, 0, SHAPES);
    tcase_add_test(tests, nothing_is_done_to_no_rows);
    tcase_add_test(tests, gradients_are_widened);
    tcase_add_loop_test(tests, updates_are_those_of_a_host, 0, 4);
    tcase_add_loop_test(tests, norms_of_gradients, 0, 3);
    tcase_add_test(tests, sums_of_sources);
    suite_add_tcase(suite, tests);
    return suite;
}
