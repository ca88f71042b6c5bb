/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_TESTS_CONV_REFERENCE_H
#define DPARTUI_TESTS_CONV_REFERENCE_H

#include "engine/device/cuda/conv_request.h"

/*
 * What a request of conv_plan.h has to give, by plain loops in f64. `host` are the tensors by role,
 * as f32 (numbers that the stored type can hold), channels last.
 */
struct conv_sum {
    double value;
    double magnitude; /* sum of the terms' absolute values: what rounding errors are relative to */
};

/* Element `at` of a tensor that the request writes. */
struct conv_sum conv_reference(const struct conv_request *request, float *const host[CONV_ROLES],
                               enum conv_role role, size_t at);

/* Numbers in a tensor. */
size_t conv_role_count(const struct conv_request *request, enum conv_role role);

#endif
