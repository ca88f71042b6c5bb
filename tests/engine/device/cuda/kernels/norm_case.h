/* SPDX-License-Identifier: MIT */
#pragma once

#include "tests/engine/device/cuda/kernels/cuda_tensor.h"

/* A BatchNorm for the tests of its kernels, and what its statistics should be, in f64. */

enum { NORM_SHAPES = 7 };
extern const struct tensor_shape norm_shapes[NORM_SHAPES];

#define NORM_EPS      1e-5
#define NORM_MOMENTUM 0.1

/* One BatchNorm on the device, and its parameters in f64. */
struct norm_case {
    struct tensor_shape shape;
    enum cuda_type type;
    size_t count, channels, bytes;
    double elements;
    double *gamma, *beta, *input_bias, *residual_bias, *running_mean, *running_var;
    struct norm_params n;
    struct sums_memory memory;
    double *sums, *n_elements;
};

struct norm_case_moments {
    double mean, variance;
};

/* On the device, with parameters at random. Its vectors go with the test's device memory. */
struct norm_case norm_case_make(struct tensor_shape s, enum cuda_type type);
void norm_case_free(struct norm_case *l);
/* Room for a number for each channel. */
float *norm_case_vector(const struct norm_case *l);
/* Of channel c of x, by two passes. */
struct norm_case_moments norm_case_moments(const struct norm_case *l, const double *x, size_t c);
/* Statistics of x, in one kernel; checks that sums alone are identical. */
void norm_case_statistics(struct norm_case *l, const void *x);
