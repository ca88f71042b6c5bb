/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "tests/engine/device/cuda/kernels/norm_case.h"

/* What the backward pass should find, from g and x. */
struct wanted {
    double *dx, *dgamma, *dbeta;
};

static struct wanted wanted_gradients(const struct norm_case *l, const double *x, const double *g)
{
    struct wanted w = {calloc(l->count, sizeof(double)), calloc(l->channels, sizeof(double)),
                       calloc(l->channels, sizeof(double))};
    for (size_t c = 0; c < (size_t)l->shape.real; c++) {
        const struct norm_case_moments m = norm_case_moments(l, x, c);
        const double istd = 1 / sqrt(m.variance + NORM_EPS);
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
enum relu_from { NO_RELU, RELU_FROM_X, RELU_FROM_MASK };

static struct norm_gradients gradients_of(const struct norm_case *l, bool biases)
{
    return (struct norm_gradients){.dgamma = norm_case_vector(l),
                                   .dbeta = norm_case_vector(l),
                                   .dinput_bias = biases ? norm_case_vector(l) : NULL,
                                   .dresidual_bias = biases ? norm_case_vector(l) : NULL,
                                   .a = norm_case_vector(l),
                                   .b = norm_case_vector(l),
                                   .c = norm_case_vector(l)};
}

/* The forward pass: what it stores for y, and, for a ReLU after an addition, its mask. */
static double *run_forward(const struct norm_case *l, const void *from, enum relu_from relu,
                           uint8_t **mask)
{
    void *y = cuda_memory(NULL, l->bytes), *other = NULL;
    *mask = NULL;
    if (relu == RELU_FROM_MASK) {
        double *r = tensor_random(l->shape, l->type, 0, 5);
        other = tensor_put(r, l->count, l->type);
        *mask = cuda_memory(NULL, kernel_norm_mask_bytes(l->type, l->shape));
        free(r);
    }
    cuda_done(kernel_norm_apply(cuda_stream, l->type, l->shape, &l->n, from, other, relu != NO_RELU,
                                y, *mask));
    return tensor_get(y, l->count, l->type);
}

/* Sums and what follows in one kernel, and in two; all of it the same. */
static void run_backward_sums(struct norm_case *l, const struct norm_backward *b,
                              const struct norm_gradients *to)
{
    const size_t bytes = l->channels * sizeof(float);
    const struct norm_gradients two = gradients_of(l, to->dresidual_bias);
    struct norm_backward first = *b;
    double *sums = cuda_memory(NULL, 2 * l->channels * sizeof(double));
    if (b->g)
        first.g = cuda_memory(NULL, l->bytes);
    cuda_done(kernel_norm_backward_sums(cuda_stream, &first, &l->n, l->memory, sums, NULL, NULL));
    cuda_done(kernel_norm_backward_finish(cuda_stream, &l->n, sums, sums, l->n_elements, &two));
    cuda_done(
        kernel_norm_backward_sums(cuda_stream, b, &l->n, l->memory, l->sums, l->n_elements, to));
    cuda_counters_are_zero(l->memory);
    if (b->g)
        same_bits(b->g, first.g, l->bytes);
    same_bits(sums, l->sums, 2 * l->channels * sizeof(double));
    same_bits(to->dgamma, two.dgamma, bytes);
    same_bits(to->dbeta, two.dbeta, bytes);
    same_bits(to->a, two.a, bytes);
    same_bits(to->b, two.b, bytes);
    same_bits(to->c, two.c, bytes);
}

static void check_vectors(const struct norm_case *l, const struct norm_gradients *to,
                          const struct wanted *w)
{
    const double many = 1e-5 * sqrt(l->elements);
    if (to->dresidual_bias)
        same_bits(to->dbeta, to->dresidual_bias, l->channels * sizeof(float));
    if (to->dinput_bias)
        tensor_compare("dinput_bias", cuda_vector_copy(to->dinput_bias, l->channels),
                       calloc(l->channels, sizeof(double)), l->channels, CUDA_F32, 0);
    tensor_compare("dgamma", cuda_vector_copy(to->dgamma, l->channels), w->dgamma, l->channels,
                   CUDA_F32, many);
    tensor_compare("dbeta", cuda_vector_copy(to->dbeta, l->channels), w->dbeta, l->channels,
                   CUDA_F32, many);
}

static void check_backward(struct tensor_shape s, enum cuda_type type, enum relu_from relu,
                           bool two, enum keep keep)
{
    struct norm_case l = norm_case_make(s, type);
    double *x = tensor_random(s, type, 3, 1);
    double *dy = tensor_random(s, type, 0.1, 3), *dy2 = tensor_random(s, type, 0, 4);
    void *from = tensor_put(x, l.count, type), *top = tensor_put(dy, l.count, type);
    struct norm_backward b = {.type = type, .shape = s, .relu = relu != NO_RELU, .x = from};
    uint8_t *mask;
    norm_case_statistics(&l, from);
    double *y = run_forward(&l, from, relu, &mask);
    b.mask = mask;
    b.dy = top;
    b.dy2 = two ? tensor_put(dy2, l.count, type) : NULL;
    b.g = keep == KEEP_G ? cuda_memory(NULL, l.bytes) : keep == KEEP_G_IN_DY ? top : NULL;
    for (size_t i = 0; i < l.count; i++) {
        dy[i] = relu != NO_RELU && !(y[i] > 0) ? 0 : dy[i] + (two ? dy2[i] : 0);
        dy[i] = b.g ? tensor_rounded(dy[i], type) : dy[i];
    }
    const struct norm_gradients to = gradients_of(&l, two);
    run_backward_sums(&l, &b, &to);
    cuda_done(kernel_norm_backward_apply(cuda_stream, &b, &l.n, &to, from));
    const struct wanted w = wanted_gradients(&l, x, dy);
    double *dx = tensor_get(from, l.count, type);
    tensor_padding_is_zero(dx, s);
    check_vectors(&l, &to, &w);
    if (b.g)
        tensor_compare("g", tensor_get(b.g, l.count, type), dy, l.count, type, 0);
    else
        free(dy);
    tensor_compare("dx", dx, w.dx, l.count, type, s.rows * s.h * s.w < 8 ? 1e-3 : 3e-5);
    free(x);
    free(y);
    free(dy2);
    norm_case_free(&l);
}

START_TEST(backward)
{
    FOR_EACH_TYPE(type)
    {
        check_backward(norm_shapes[_i], type, NO_RELU, false, KEEP_G);
        check_backward(norm_shapes[_i], type, NO_RELU, false, KEEP_NOTHING);
        check_backward(norm_shapes[_i], type, NO_RELU, true, KEEP_G_IN_DY);
        check_backward(norm_shapes[_i], type, RELU_FROM_X, false, KEEP_NOTHING);
        check_backward(norm_shapes[_i], type, RELU_FROM_X, true, KEEP_G);
        check_backward(norm_shapes[_i], type, RELU_FROM_MASK, false, KEEP_G);
        check_backward(norm_shapes[_i], type, RELU_FROM_MASK, true, KEEP_G_IN_DY);
    }
}
END_TEST

/*
 * Numbers that bf16 rounds to zero, and the least that it does not: 2^-134 is half of its least,
 * and 2^-134 + 2^-140 is more. The gradient passes where what was stored is above zero, and x *
 * scale finds that again.
 */
START_TEST(gradients_pass_where_the_stored_number_is_above_zero)
{
    const struct tensor_shape s = {4, 1, 1, 8, 8};
    const double small[8] = {64, 65, 63, 1, -64, -65, 0, 128}, ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    double scale[8], zeros[8] = {0}, x[32], dy[32];
    for (int i = 0; i < 32; i++) {
        x[i] = small[(i + i / 8) % 8]; /* in another channel in each row */
        dy[i] = 1;
        scale[i % 8] = 0x1p-140;
    }
    FOR_EACH_TYPE(type)
    {
        struct norm_case l = norm_case_make(s, type);
        void *from = tensor_put(x, 32, type);
        uint8_t *mask;
        l.n.scale = cuda_vector(scale, 8);
        l.n.shift = cuda_vector(zeros, 8);
        l.n.mean = cuda_vector(zeros, 8);
        l.n.istd = cuda_vector(ones, 8);
        double *y = run_forward(&l, from, RELU_FROM_X, &mask), want[8] = {0};
        const struct norm_backward b = {
            .type = type, .shape = s, .relu = true, .x = from, .dy = tensor_put(dy, 32, type)};
        const struct norm_gradients to = gradients_of(&l, false);
        run_backward_sums(&l, &b, &to);
        int passed = 0;
        for (int i = 0; i < 32; i++) {
            want[i % 8] += y[i] > 0;
            passed += y[i] > 0;
        }
        ck_assert_int_eq(passed, type == CUDA_BF16 ? 8 : 20); /* 65, 128; and 1, 63, 64 in f32 */
        double *dbeta = cuda_vector_copy(to.dbeta, 8);
        for (int c = 0; c < 8; c++)
            ck_assert_double_eq(dbeta[c], want[c]);
        free(dbeta);
        free(y);
        norm_case_free(&l);
    }
}
END_TEST

START_TEST(what_no_layer_asks_for_is_refused)
{
    const struct tensor_shape s = {2, 2, 2, 8, 8};
    struct norm_case l = norm_case_make(s, CUDA_BF16);
    void *memory = cuda_memory(NULL, l.bytes);
    struct norm_backward b = {.type = CUDA_BF16, .shape = s, .relu = true, .x = memory};
    b.dy = b.g = memory;
    ck_assert_int_eq(kernel_norm_backward_sums(cuda_stream, &b, &l.n, l.memory, l.sums, NULL, NULL),
                     cudaErrorInvalidValue);
    b.g = NULL;
    b.dy2 = memory;
    ck_assert_int_eq(
        kernel_norm_backward_apply(cuda_stream, &b, &l.n, &(struct norm_gradients){0}, memory),
        cudaErrorInvalidValue);
    norm_case_free(&l);
}
END_TEST

Suite *norm_backward_suite(void)
{
    Suite *suite = suite_create("cuda norm backward");
    TCase *tests = tcase_create("cuda norm backward");
    tcase_add_checked_fixture(tests, cuda_setup, cuda_teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, backward, 0, NORM_SHAPES);
    tcase_add_test(tests, gradients_pass_where_the_stored_number_is_above_zero);
    tcase_add_test(tests, what_no_layer_asks_for_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
