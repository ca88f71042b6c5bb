/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/dnn/conv/request.h"

/*
 * What a request has to give, element by element, by plain loops on the host in f64: what autotuned
 * engines, and the tests, are compared with.
 */

/* The tensors that a request reads, as f32 (numbers that the stored type can hold), channels last.
 * Element i of a tensor is numbers[role][i % period]: a pattern may stand for a large tensor;
 * SIZE_MAX: the whole tensor is there. */
struct conv_inputs {
    const float *numbers[CONV_ROLES];
    size_t period;
};

struct conv_sum {
    double value;
    double magnitude; /* sum of the terms' absolute values: bounds the rounding errors */
    double squares;   /* sum of the terms' squares: its root is their likely size */
};

/* Element `at` of a tensor that the request writes. */
struct conv_sum conv_reference(const struct conv_request *request, const struct conv_inputs *inputs,
                               enum conv_role role, size_t at);

/* Numbers in a tensor. */
size_t conv_role_count(const struct conv_request *request, enum conv_role role);
