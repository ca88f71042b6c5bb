/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "tests/engine/device/cuda/kernels/norm_case.h"

static void check_statistics(struct norm_case *l, const double *x, double slack)
{
    double *mean = cuda_vector_copy(l->n.mean, l->channels);
    double *istd = cuda_vector_copy(l->n.istd, l->channels);
    double *running_mean = cuda_vector_copy(l->n.running_mean, l->channels);
    double *running_var = cuda_vector_copy(l->n.running_var, l->channels);
    for (size_t c = 0; c < l->channels; c++) {
        const struct norm_case_moments m = norm_case_moments(l, x, c);
        const double unbiased = m.variance * l->elements / (l->elements - 1);
        const double m_then = l->running_mean[c], v_then = l->running_var[c];
        const double m_now = m_then + NORM_MOMENTUM * (m.mean + l->input_bias[c] - m_then);
        ck_assert_double_eq_tol(mean[c], m.mean, slack);
        ck_assert_double_eq_tol(istd[c] * sqrt(m.variance + NORM_EPS), 1, 1e-5);
        ck_assert_double_eq_tol(running_mean[c], m_now, slack);
        ck_assert_double_eq_tol(running_var[c], v_then + NORM_MOMENTUM * (unbiased - v_then), 1e-5);
    }
    free(mean);
    free(istd);
    free(running_mean);
    free(running_var);
}

static double *wanted_y(const struct norm_case *l, const double *x, const double *residual,
                        bool relu)
{
    double *y = calloc(l->count, sizeof *y);
    for (size_t c = 0; c < (size_t)l->shape.real; c++) {
        const struct norm_case_moments m = norm_case_moments(l, x, c);
        for (size_t i = c; i < l->count; i += l->channels) {
            y[i] = (x[i] - m.mean) / sqrt(m.variance + NORM_EPS) * l->gamma[c] + l->beta[c] +
                   l->residual_bias[c] + (residual ? residual[i] : 0);
            y[i] = relu && y[i] < 0 ? 0 : y[i];
        }
    }
    return y;
}

/* Bits of a mask: whether each number of y, as stored, is above zero. */
static void check_mask(const uint8_t *device, const double *y, size_t count, enum cuda_type type)
{
    const size_t pack = 16 / cuda_type_size(type);
    uint8_t *mask = cuda_copy(device, count / pack);
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(mask[i / pack] >> i % pack & 1, y[i] > 0);
    free(mask);
}

static void check_forward(struct tensor_shape s, enum cuda_type type, bool residual, bool relu)
{
    struct norm_case l = norm_case_make(s, type);
    double *x = tensor_random(s, type, 3, 1), *r = residual ? tensor_random(s, type, 0, 2) : NULL;
    void *from = tensor_put(x, l.count, type), *other = r ? tensor_put(r, l.count, type) : NULL;
    void *y = cuda_memory(NULL, l.bytes);
    uint8_t *mask = r ? cuda_memory(NULL, kernel_norm_mask_bytes(type, s)) : NULL;
    norm_case_statistics(&l, from);
    check_statistics(&l, x, 1e-5);
    cuda_done(kernel_norm_apply(cuda_stream, type, s, &l.n, from, other, relu, y, mask));
    void *in_place = residual ? other : from;
    cuda_done(kernel_norm_apply(cuda_stream, type, s, &l.n, from, other, relu, in_place, NULL));
    same_bits(y, in_place, l.bytes);
    double *got = tensor_get(y, l.count, type);
    tensor_padding_is_zero(got, s);
    if (mask)
        check_mask(mask, got, l.count, type);
    tensor_compare("y", got, wanted_y(&l, x, r, relu), l.count, type, 4e-5);
    free(x);
    free(r);
    norm_case_free(&l);
}

START_TEST(forward_of_training)
{
    FOR_EACH_TYPE(type)
    {
        check_forward(norm_shapes[_i], type, false, false);
        check_forward(norm_shapes[_i], type, false, true);
        check_forward(norm_shapes[_i], type, true, true);
    }
}
END_TEST

START_TEST(statistics_of_numbers_far_from_zero)
{
    const struct tensor_shape s = {16, 14, 14, 16, 13};
    struct norm_case l = norm_case_make(s, CUDA_F32);
    double *x = tensor_random(s, CUDA_F32, 1000, 1);
    norm_case_statistics(&l, tensor_put(x, l.count, CUDA_F32));
    check_statistics(&l, x, 2e-4); /* of 1000: f32's own steps */
    free(x);
    norm_case_free(&l);
}
END_TEST

/* Sums of the rows of two devices, added, are those of all rows. */
START_TEST(sums_of_shards_add_up)
{
    const struct tensor_shape s = {7, 5, 5, 16, 16}, none = {0, 5, 5, 16, 16};
    struct tensor_shape part = {3, 5, 5, 16, 16}, rest = {4, 5, 5, 16, 16};
    struct norm_case l = norm_case_make(s, CUDA_F32);
    double *x = tensor_random(s, CUDA_F32, 30, 1), *sums[3], all[32];
    const struct tensor_shape shards[] = {part, none, rest};
    size_t start = 0;
    for (int k = 0; k < 3; k++) {
        void *from = tensor_put(x + start, tensor_size(shards[k]), CUDA_F32);
        cuda_done(
            kernel_norm_sums(cuda_stream, CUDA_F32, shards[k], from, l.memory, l.sums, &l.n, NULL));
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
    norm_case_free(&l);
}
END_TEST

static void same_statistics(const struct norm_case *a, const struct norm_case *b)
{
    const size_t bytes = a->channels * sizeof(float);
    same_bits(a->n.mean, b->n.mean, bytes);
    same_bits(a->n.istd, b->n.istd, bytes);
    same_bits(a->n.scale, b->n.scale, bytes);
    same_bits(a->n.shift, b->n.shift, bytes);
    same_bits(a->n.running_mean, b->n.running_mean, bytes);
    same_bits(a->n.running_var, b->n.running_var, bytes);
}

/* One kernel for sums and statistics does what two do, between which others may add their sums. */
START_TEST(statistics_at_once_are_those_of_a_step_of_their_own)
{
    FOR_EACH_TYPE(type)
    {
        struct norm_case once = norm_case_make(norm_shapes[_i], type),
                         twice = norm_case_make(norm_shapes[_i], type);
        double *x = tensor_random(once.shape, type, 3, 1);
        void *from = tensor_put(x, once.count, type);
        norm_case_statistics(&once, from);
        cuda_done(kernel_norm_sums(cuda_stream, type, twice.shape, from, twice.memory, twice.sums,
                                   &twice.n, NULL));
        cuda_done(kernel_norm_statistics(cuda_stream, &twice.n, twice.sums, twice.n_elements));
        same_statistics(&once, &twice);
        free(x);
        norm_case_free(&once);
        norm_case_free(&twice);
    }
}
END_TEST

START_TEST(sums_of_a_convolution_are_taken)
{
    struct norm_case l = norm_case_make(norm_shapes[2], CUDA_F32),
                     once = norm_case_make(norm_shapes[2], CUDA_F32);
    double *a = vector_random(24, 24, 5, 1), *b = vector_random(24, 24, 50, 2);
    const float *sums = cuda_vector(a, 24), *squares = cuda_vector(b, 24);
    const void *x = cuda_memory(NULL, l.bytes); /* not read: these sums are good */
    cuda_done(kernel_norm_take_sums(cuda_stream, CUDA_F32, l.shape, x, sums, squares, once.sums,
                                    &once.n, once.n_elements));
    cuda_done(kernel_norm_take_sums(cuda_stream, CUDA_F32, l.shape, x, sums, squares, l.sums, NULL,
                                    NULL));
    cuda_done(kernel_norm_statistics(cuda_stream, &l.n, l.sums, l.n_elements));
    same_bits(l.sums, once.sums, 48 * sizeof(double));
    same_statistics(&l, &once);
    double *got = cuda_doubles_copy(l.sums, 48);
    for (int c = 0; c < 24; c++) {
        ck_assert_double_eq(got[c], a[c]);
        ck_assert_double_eq(got[24 + c], b[c]);
    }
    free(a);
    free(b);
    free(got);
    norm_case_free(&l);
    norm_case_free(&once);
}
END_TEST

START_TEST(evaluation_uses_the_running_statistics)
{
    for (int biased = 0; biased < 2; biased++) {
        struct norm_case l = norm_case_make(norm_shapes[_i], CUDA_F32);
        double *x = tensor_random(l.shape, CUDA_F32, 1, 1), *y = calloc(l.count, sizeof *y);
        void *at = tensor_put(x, l.count, CUDA_F32);
        if (!biased)
            l.n.input_bias = l.n.residual_bias = NULL;
        cuda_done(kernel_norm_evaluation(cuda_stream, &l.n));
        cuda_done(
            kernel_norm_apply(cuda_stream, CUDA_F32, l.shape, &l.n, at, NULL, false, at, NULL));
        for (size_t i = 0; i < l.count; i++) {
            const size_t c = i % l.channels;
            const double centred = x[i] + (biased ? l.input_bias[c] : 0) - l.running_mean[c];
            y[i] = centred / sqrt(l.running_var[c] + NORM_EPS) * l.gamma[c] + l.beta[c] +
                   (biased ? l.residual_bias[c] : 0);
        }
        double *got = tensor_get(at, l.count, CUDA_F32);
        for (size_t i = 0; i < l.count; i++) /* padding has variance 0, and nothing to show */
            y[i] = (int)(i % l.channels) < l.shape.real ? y[i] : 0;
        tensor_compare("y", got, y, l.count, CUDA_F32, 1e-5);
        free(x);
        norm_case_free(&l);
    }
}
END_TEST

Suite *norm_suite(void)
{
    Suite *suite = suite_create("cuda norm");
    TCase *tests = tcase_create("cuda norm");
    tcase_add_checked_fixture(tests, cuda_setup, cuda_teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, forward_of_training, 0, NORM_SHAPES);
    tcase_add_test(tests, statistics_of_numbers_far_from_zero);
    tcase_add_test(tests, sums_of_shards_add_up);
    tcase_add_loop_test(tests, statistics_at_once_are_those_of_a_step_of_their_own, 0, NORM_SHAPES);
    tcase_add_test(tests, sums_of_a_convolution_are_taken);
    tcase_add_loop_test(tests, evaluation_uses_the_running_statistics, 0, NORM_SHAPES);
    suite_add_tcase(suite, tests);
    return suite;
}
