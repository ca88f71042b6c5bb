/* SPDX-License-Identifier: MIT */
#include "tests/engine/device/cuda/kernels/norm_case.h"

const struct tensor_shape norm_shapes[NORM_SHAPES] = {
    {5, 1, 1, 8, 3},     {6, 1, 1, 512, 512}, {5, 3, 3, 24, 17},    {2, 3, 3, 104, 100},
    {1, 28, 28, 64, 64}, {40, 15, 14, 8, 8},  {13, 14, 14, 64, 64}, /* more chunks than one block
                                                                       adds up */
};
float *norm_case_vector(const struct norm_case *l)
{
    return cuda_memory(NULL, l->channels * sizeof(float));
}

struct norm_case norm_case_make(struct tensor_shape s, enum cuda_type type)
{
    struct norm_case l = {.shape = s, .type = type, .count = tensor_size(s)};
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
                               .eps = NORM_EPS,
                               .momentum = NORM_MOMENTUM,
                               .mean = norm_case_vector(&l),
                               .istd = norm_case_vector(&l),
                               .scale = norm_case_vector(&l),
                               .shift = norm_case_vector(&l)};
    l.memory = cuda_sums_memory(s);
    l.sums = cuda_memory(NULL, 2 * channels * sizeof(double));
    l.n_elements = cuda_memory(&l.elements, sizeof l.elements);
    return l;
}

void norm_case_free(struct norm_case *l)
{
    free(l->gamma);
    free(l->beta);
    free(l->input_bias);
    free(l->residual_bias);
    free(l->running_mean);
    free(l->running_var);
}

struct norm_case_moments norm_case_moments(const struct norm_case *l, const double *x, size_t c)
{
    struct norm_case_moments m = {0, 0};
    for (size_t i = c; i < l->count; i += l->channels)
        m.mean += x[i] / l->elements;
    for (size_t i = c; i < l->count; i += l->channels)
        m.variance += (x[i] - m.mean) * (x[i] - m.mean) / l->elements;
    return m;
}

void norm_case_statistics(struct norm_case *l, const void *x)
{
    double *again = cuda_memory(NULL, 2 * l->channels * sizeof(double));
    cuda_done(kernel_norm_sums(cuda_stream, l->type, l->shape, x, l->memory, again, &l->n, NULL));
    cuda_done(kernel_norm_sums(cuda_stream, l->type, l->shape, x, l->memory, l->sums, &l->n,
                               l->n_elements));
    same_bits(l->sums, again, 2 * l->channels * sizeof(double));
    cuda_counters_are_zero(l->memory);
}
