/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CUDA_KERNELS_ACTIVATION_MATH_H
#define DPARTUI_ENGINE_DEVICE_CUDA_KERNELS_ACTIVATION_MATH_H

#include <math.h>

#include "engine/device/cuda/kernels/host_device.h"

/* Each function and its derivative, the latter from the value y alone, as only y is kept. */

/* A NaN stays one: a run that diverges must show it. */
static inline HOST_DEVICE float relu(float x)
{
    return x <= 0 ? 0 : x;
}

/* The gradient passes where the output is above zero. */
static inline HOST_DEVICE float relu_backward(float y, float dy)
{
    return y > 0 ? dy : 0;
}

/* exp of a large -x is infinite, and the quotient 0, as it should be. */
static inline HOST_DEVICE float sigmoid(float x)
{
    return 1 / (1 + expf(-x));
}

static inline HOST_DEVICE float sigmoid_backward(float y, float dy)
{
    return dy * y * (1 - y);
}

/* (1 - y)(1 + y) keeps the digits that 1 - y * y loses where y is near 1. */
static inline HOST_DEVICE float tanh_backward(float y, float dy)
{
    return dy * ((1 - y) * (1 + y));
}

#endif
