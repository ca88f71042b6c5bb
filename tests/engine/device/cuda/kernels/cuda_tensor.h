/* SPDX-License-Identifier: MIT */
#pragma once

#include <check.h>
#include <stdlib.h>

#include "engine/device/cuda/kernels/kernels.h"

/*
 * Tensors of a GPU, or of the simulated one, beside what they should hold, in f64. Whatever cannot
 * be done fails the running check.
 */

/* Before and after each test: a fresh simulated machine; all memory back, no fault found. */
void cuda_setup(void);
void cuda_teardown(void);

/* The stream of the tests; waits for it and checks the launch. */
extern cudaStream_t cuda_stream;
void cuda_done(cudaError_t launched);

/* Device memory, released in the teardown; `data` NULL: whatever it holds. Copies to the host are
 * the caller's. */
void *cuda_memory(const void *data, size_t bytes);
void *cuda_copy(const void *device, size_t bytes);

/* What kernels that sum over such a tensor work in; the counters must be zero after each. */
struct sums_memory cuda_sums_memory(struct tensor_shape shape);
void cuda_counters_are_zero(struct sums_memory memory);

/* f32 vectors. */
float *cuda_vector(const double *x, size_t count);
double *cuda_vector_copy(const float *device, size_t count);
double *cuda_doubles_copy(const double *device, size_t count);

/* Numbers that the type can hold, about `mean` with deviation 1, zero after the real channels;
 * of another `number`, others. To be freed. */
double *tensor_random(struct tensor_shape shape, enum cuda_type type, double mean, unsigned number);
double *vector_random(int channels, int real, double mean, unsigned number);
void *tensor_put(const double *x, size_t count, enum cuda_type type);
double *tensor_get(const void *device, size_t count, enum cuda_type type);
/* As the type rounds it. */
double tensor_rounded(double x, enum cuda_type type);

/* Each number within the type's rounding of the wanted one, and `slack` more (f32 sums); frees
 * both. */
void tensor_compare(const char *what, double *got, double *want, size_t count, enum cuda_type type,
                    double slack);
/* The real channels apart from the others, which must be zero exactly. */
void tensor_padding_is_zero(const double *x, struct tensor_shape shape);
void same_bits(const void *a, const void *b, size_t bytes);

#define FOR_EACH_TYPE(TYPE)                                                                        \
    for (enum cuda_type TYPE = CUDA_F32; TYPE <= CUDA_BF16; TYPE = (enum cuda_type)(TYPE + 1))

Suite *elementwise_suite(void);
Suite *grouped_suite(void);
Suite *input_suite(void);
Suite *norm_suite(void);
Suite *norm_backward_suite(void);
Suite *take_suite(void);
Suite *pool_suite(void);
