/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "tests/cuda_tensor.h"

static const struct tensor_shape shapes[] = {
    {5, 1, 1, 8, 3},     {6, 1, 1, 512, 512}, {5, 3, 3, 24, 17},
    {2, 3, 3, 104, 100}, {1, 28, 28, 64, 64}, {40, 15, 14, 8, 8},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

#define EPS      1e-5
#define MOMENTUM 0.1

/* One BatchNorm on the device, and its parameters in f64. */
struct layer {
    struct tensor_shape shape;
    enum cuda_type type;
    size_t count, channels, bytes;
    double elements;
    double *gamma, *beta, *input_bias, *residual_bias, *running_mean, *running_var;
    struct norm_params n;
    void *scratch;
    double *sums, *n_elements;
};

static float *channel_memory(const struct layer *l)
{
    return cuda_memory(NULL, l->channels * sizeof(float));
}

static struct layer layer_of(struct tensor_shape s, enum cuda_type type)
{
    struct layer l = {.shape = s, .type = type, .count = tensor_size(s)};
    const size_t channels = l.channels = (size_t)s.channels;
    l.bytes = l.count * cuda_type_size(type);
    l.elements = (double)s.rows * s.h * s.w;
    l.gamma = vector_random(s.channels, s.real, 1, 11);
    l.beta = vector_random(s.channels, s.real, 0, 12);
    l.input_bias = vector_random(s.channels, s.real, 0, 13);
    l.residual_bias = vector_random(s.channels, s.real, 0, 14);
    l.running_mean = vector_random(s.channels, s.real, 0, 15);
    l.running_var = vector_random(s.channels, s.real, 8, 16);
    l.n = (struct norm_params){.channels = s.channels,
                               .gamma = cuda_vector(l.gamma, channels),
                               .beta = cuda_vector(l.beta, channels),
                               .input_bias = cuda_vector(l.input_bias, channels),
                               .residual_bias = cuda_vector(l.residual_bias, channels),
                               .running_mean = cuda_vector(l.running_mean, channels),
                               .running_var = cuda_vector(l.running_var, channels),
                               .eps = EPS,
                               .momentum = MOMENTUM,
                               .mean = channel_memory(&l),
                               .istd = channel_memory(&l),
                               .scale = channel_memory(&l),
                               .shift = channel_memory(&l)};
    l.scratch = cuda_memory(NULL, kernel_sums_scratch(s));
    l.sums = cuda_memory(NULL, 2 * channels * sizeof(double));
    l.n_elements = cuda_memory(&l.elements, sizeof l.elements);
    return l;
}

static void layer_free(struct layer *l)
{
    free(l->gamma);
    free(l->beta);
    free(l->input_bias);
    free(l->residual_bias);
    free(l->running_mean);
    free(l->running_var);
}

/* Two passes over channel c. */
struct moments {
    double mean, variance;
};

static struct moments moments_of(const struct layer *l, const double *x, size_t c)
{
    struct moments m = {0, 0};
    for (size_t i = c; i < l->count; i += l->channels)
        m.mean += x[i] / l->elements;
    for (size_t i = c; i < l->count; i += l->channels)
        m.variance += (x[i] - m.mean) * (x[i] - m.mean) / l->elements;
    return m;
}

static void check_statistics(struct layer *l, const double *x, double slack)
{
    double *mean = cuda_vector_copy(l->n.mean, l->channels);
    double *istd = cuda_vector_copy(l->n.istd, l->channels);
    double *running_mean = cuda_vector_copy(l->n.running_mean, l->channels);
    double *running_var = cuda_vector_copy(l->n.running_var, l->channels);
    for (size_t c = 0; c < l->channels; c++) {
        const struct moments m = moments_of(l, x, c);
        const double unbiased = m.variance * l->elements / (l->elements - 1);
        const double m_then = l->running_mean[c], v_then = l->running_var[c];
        const double m_now = m_then + MOMENTUM * (m.mean + l->input_bias[c] - m_then);
        ck_assert_double_eq_tol(mean[c], m.mean, slack);
        ck_assert_double_eq_tol(istd[c] * sqrt(m.variance + EPS), 1, 1e-5);
        ck_assert_double_eq_tol(running_mean[c], m_now, slack);
        ck_assert_double_eq_tol(running_var[c], v_then + MOMENTUM * (unbiased - v_then), 1e-5);
    }
    free(mean);
    free(istd);
    free(running_mean);
    free(running_var);
}

/* Statistics of x; the same bits twice. */
static void run_statistics(struct layer *l, const void *x)
{
    double *again = cuda_memory(NULL, 2 * l->channels * sizeof(double));
    cuda_done(kernel_norm_sums(cuda_stream, l->type, l->shape, x, l->scratch, l->sums));
    cuda_done(kernel_norm_sums(cuda_stream, l->type, l->shape, x, l->scratch, again));
    same_bits(l->sums, again, 2 * l->channels * sizeof(double));
    cuda_done(kernel_norm_statistics(cuda_stream, &l->n, l->sums, l->n_elements));
}

static double *wanted_y(const struct layer *l, const double *x, const double *residual, bool relu)
{
    double *y = calloc(l->count, sizeof *y);
    for (size_t c = 0; c < (size_t)l->shape.real; c++) {
        const struct moments m = moments_of(l, x, c);
        for (size_t i = c; i < l->count; i += l->channels) {
            y[i] = (x[i] - m.mean) / sqrt(m.variance + EPS) * l->gamma[c] + l->beta[c] +
                   l->residual_bias[c] + (residual ? residual[i] : 0);
            y[i] = relu && y[i] < 0 ? 0 : y[i];
        }
    }
    return y;
}

static void check_forward(struct tensor_shape s, enum cuda_type type, bool residual, bool relu)
{
    struct layer l = layer_of(s, type);
    double *x = tensor_random(s, type, 3, 1), *r = residual ? tensor_random(s, type, 0, 2) : NULL;
    void *from = tensor_put(x, l.count, type), *other = r ? tensor_put(r, l.count, type) : NULL;
    void *y = cuda_memory(NULL, l.bytes);
    run_statistics(&l, from);
    check_statistics(&l, x, 1e-5);
    cuda_done(kernel_norm_apply(cuda_stream, type, s, &l.n, from, other, relu, y));
    void *in_place = residual ? other : from;
    cuda_done(kernel_norm_apply(cuda_stream, type, s, &l.n, from, other, relu, in_place));
    same_bits(y, in_place, l.bytes);
    double *got = tensor_get(y, l.count, type);
    tensor_padding_is_zero(got, s);
    tensor_compare("y", got, wanted_y(&l, x, r, relu), l.count, type, 4e-5);
    free(x);
    free(r);
    layer_free(&l);
}

START_TEST(forward_of_training)
{
    FOR_EACH_TYPE(type)
    {
        check_forward(shapes[_i], type, false, false);
        check_forward(shapes[_i], type, false, true);
        check_forward(shapes[_i], type, true, true);
    }
}
END_TEST

START_TEST(statistics_of_numbers_far_from_zero)
{
    const struct tensor_shape s = {16, 14, 14, 16, 13};
    struct layer l = layer_of(s, CUDA_F32);
    double *x = tensor_random(s, CUDA_F32, 1000, 1);
    run_statistics(&l, tensor_put(x, l.count, CUDA_F32));
    check_statistics(&l, x, 2e-4); /* of 1000: f32's own steps */
    free(x);
    layer_free(&l);
}
END_TEST

/* Sums of the rows of two devices, added, are those of all rows. */
START_TEST(sums_of_shards_add_up)
{
    const struct tensor_shape s = {7, 5, 5, 16, 16}, none = {0, 5, 5, 16, 16};
    struct tensor_shape part = {3, 5, 5, 16, 16}, rest = {4, 5, 5, 16, 16};
    struct layer l = layer_of(s, CUDA_F32);
    double *x = tensor_random(s, CUDA_F32, 30, 1), *sums[3], all[32];
    const struct tensor_shape shards[] = {part, none, rest};
    size_t start = 0;
    for (int k = 0; k < 3; k++) {
        void *from = tensor_put(x + start, tensor_size(shards[k]), CUDA_F32);
        cuda_done(kernel_norm_sums(cuda_stream, CUDA_F32, shards[k], from, l.scratch, l.sums));
        sums[k] = cuda_doubles_copy(l.sums, 32);
        start += tensor_size(shards[k]);
    }
    for (int c = 0; c < 32; c++) {
        ck_assert_double_eq(sums[1][c], 0);
        all[c] = sums[0][c] + sums[1][c] + sums[2][c];
    }
    cuda_done(
        kernel_norm_statistics(cuda_stream, &l.n, cuda_memory(all, sizeof all), l.n_elements));
    check_statistics(&l, x, 1e-5);
    for (int k = 0; k < 3; k++)
        free(sums[k]);
    free(x);
    layer_free(&l);
}
END_TEST

START_TEST(sums_of_a_convolution_are_taken)
{
    struct layer l = layer_of(shapes[2], CUDA_F32);
    double *a = vector_random(24, 24, 5, 1), *b = vector_random(24, 24, 50, 2);
    cuda_done(
        kernel_norm_take_sums(cuda_stream, 24, cuda_vector(a, 24), cuda_vector(b, 24), l.sums));
    double *got = cuda_doubles_copy(l.sums, 48);
    for (int c = 0; c < 24; c++) {
        ck_assert_double_eq(got[c], a[c]);
        ck_assert_double_eq(got[24 + c], b[c]);
    }
    free(a);
    free(b);
    free(got);
    layer_free(&l);
}
END_TEST

START_TEST(evaluation_uses_the_running_statistics)
{
    for (int biased = 0; biased < 2; biased++) {
        struct layer l = layer_of(shapes[_i], CUDA_F32);
        double *x = tensor_random(l.shape, CUDA_F32, 1, 1), *y = calloc(l.count, sizeof *y);
        void *at = tensor_put(x, l.count, CUDA_F32);
        if (!biased)
            l.n.input_bias = l.n.residual_bias = NULL;
        cuda_done(kernel_norm_evaluation(cuda_stream, &l.n));
        cuda_done(kernel_norm_apply(cuda_stream, CUDA_F32, l.shape, &l.n, at, NULL, false, at));
        for (size_t i = 0; i < l.count; i++) {
            const size_t c = i % l.channels;
            const double centred = x[i] + (biased ? l.input_bias[c] : 0) - l.running_mean[c];
            y[i] = centred / sqrt(l.running_var[c] + EPS) * l.gamma[c] + l.beta[c] +
                   (biased ? l.residual_bias[c] : 0);
        }
        double *got = tensor_get(at, l.count, CUDA_F32);
        for (size_t i = 0; i < l.count; i++) /* padding has variance 0, and nothing to show */
            y[i] = (int)(i % l.channels) < l.shape.real ? y[i] : 0;
        tensor_compare("y", got, y, l.count, CUDA_F32, 1e-5);
        free(x);
        layer_free(&l);
    }
}
END_TEST

/* What the backward pass should find, from g and x. */
struct wanted {
    double *dx, *dgamma, *dbeta;
};

static struct wanted wanted_gradients(const struct layer *l, const double *x, const double *g)
{
    struct wanted w = {calloc(l->count, sizeof(double)), calloc(l->channels, sizeof(double)),
                       calloc(l->channels, sizeof(double))};
    for (size_t c = 0; c < (size_t)l->shape.real; c++) {
        const struct moments m = moments_of(l, x, c);
        const double istd = 1 / sqrt(m.variance + EPS);
        for (size_t i = c; i < l->count; i += l->channels) {
            w.dbeta[c] += g[i];
            w.dgamma[c] += g[i] * (x[i] - m.mean) * istd;
        }
        for (size_t i = c; i < l->count; i += l->channels)
            w.dx[i] = l->gamma[c] * istd *
                      (g[i] - w.dbeta[c] / l->elements -
                       (x[i] - m.mean) * istd * w.dgamma[c] / l->elements);
    }
    return w;
}

enum keep { KEEP_G, KEEP_G_IN_DY, KEEP_NOTHING };

static void check_backward(struct tensor_shape s, enum cuda_type type, bool relu, bool two,
                           enum keep keep)
{
    struct layer l = layer_of(s, type);
    double *x = tensor_random(s, type, 3, 1), *y = tensor_random(s, type, 0, 2);
    double *dy = tensor_random(s, type, 0.1, 3), *dy2 = tensor_random(s, type, 0, 4);
    void *from = tensor_put(x, l.count, type), *top = tensor_put(dy, l.count, type);
    void *top2 = two ? tensor_put(dy2, l.count, type) : NULL;
    void *out = relu ? tensor_put(y, l.count, type) : NULL;
    void *g = keep == KEEP_G ? cuda_memory(NULL, l.bytes) : keep == KEEP_G_IN_DY ? top : NULL;
    const struct norm_gradients to = {.dgamma = channel_memory(&l),
                                      .dbeta = channel_memory(&l),
                                      .dinput_bias = relu ? channel_memory(&l) : NULL,
                                      .dresidual_bias = two ? channel_memory(&l) : NULL,
                                      .a = channel_memory(&l),
                                      .b = channel_memory(&l),
                                      .c = channel_memory(&l)};
    for (size_t i = 0; i < l.count; i++) {
        dy[i] = relu && y[i] <= 0 ? 0 : dy[i] + (two ? dy2[i] : 0);
        dy[i] = g ? tensor_rounded(dy[i], type) : dy[i];
    }
    run_statistics(&l, from);
    cuda_done(kernel_norm_backward_sums(cuda_stream, type, s, top, top2, out, relu, from, g,
                                        l.scratch, l.sums));
    cuda_done(kernel_norm_backward_finish(cuda_stream, &l.n, l.sums, l.sums, l.n_elements, &to));
    cuda_done(
        kernel_norm_backward_apply(cuda_stream, type, s, &to, g, top, top2, out, relu, from, from));
    const struct wanted w = wanted_gradients(&l, x, dy);
    double *dx = tensor_get(from, l.count, type);
    const double many = 1e-5 * sqrt(l.elements);
    tensor_padding_is_zero(dx, s);
    if (to.dresidual_bias)
        same_bits(to.dbeta, to.dresidual_bias, l.channels * sizeof(float));
    if (to.dinput_bias)
        tensor_compare("dinput_bias", cuda_vector_copy(to.dinput_bias, l.channels),
                       calloc(l.channels, sizeof(double)), l.channels, CUDA_F32, 0);
    if (g)
        tensor_compare("g", tensor_get(g, l.count, type), dy, l.count, type, 0);
    else
        free(dy);
    tensor_compare("dx", dx, w.dx, l.count, type, s.rows * s.h * s.w < 8 ? 1e-3 : 3e-5);
    tensor_compare("dgamma", cuda_vector_copy(to.dgamma, l.channels), w.dgamma, l.channels,
                   CUDA_F32, many);
    tensor_compare("dbeta", cuda_vector_copy(to.dbeta, l.channels), w.dbeta, l.channels, CUDA_F32,
                   many);
    free(x);
    free(y);
    free(dy2);
    layer_free(&l);
}

START_TEST(backward)
{
    FOR_EACH_TYPE(type)
    {
        check_backward(shapes[_i], type, false, false, KEEP_G);
        check_backward(shapes[_i], type, true, false, KEEP_NOTHING);
        check_backward(shapes[_i], type, true, true, KEEP_G_IN_DY);
        check_backward(shapes[_i], type, false, true, KEEP_NOTHING);
    }
}
END_TEST

Suite *norm_suite(void)
{
    Suite *suite = suite_create("cuda norm");
    TCase *tests = tcase_create("cuda norm");
    tcase_add_checked_fixture(tests, cuda_setup, cuda_teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, forward_of_training, 0, SHAPES);
    tcase_add_test(tests, statistics_of_numbers_far_from_zero);
    tcase_add_test(tests, sums_of_shards_add_up);
    tcase_add_test(tests, sums_of_a_convolution_are_taken);
    tcase_add_loop_test(tests, evaluation_uses_the_running_statistics, 0, SHAPES);
    tcase_add_loop_test(tests, backward, 0, SHAPES);
    suite_add_tcase(suite, tests);
    return suite;
}
