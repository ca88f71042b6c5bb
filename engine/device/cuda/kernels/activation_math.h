/* SPDX-License-Identifier: MIT */
#pragma once

#include <math.h>

#include "engine/device/host_device.h"

/* Each function, and dy times its derivative: from the value y alone, where y is what is kept for
 * the backward pass, else from x. */

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

/* x * P(X <= x) of the standard normal distribution: D. Hendrycks, K. Gimpel, "Gaussian error
 * linear units", 2016. By erfc, which keeps the digits that 1 + erf loses below zero. */
static inline HOST_DEVICE float gelu(float x)
{
    return 0.5F * x * erfcf(-x * (float)M_SQRT1_2);
}

static inline HOST_DEVICE float gelu_backward(float x, float dy)
{
    const float density = expf(-0.5F * x * x) * (float)(M_2_SQRTPI * M_SQRT1_2 / 2);
    return dy * (0.5F * erfcf(-x * (float)M_SQRT1_2) + x * density);
}

/* The approximation in section 2 there, x * (1 + tanh(u)) / 2 with u = sqrt(2/pi) * (x + cubic *
 * x^3). The factor is the sigmoid of 2u, this. */
#define GELU_CUBIC 0.044715F

static inline HOST_DEVICE float gelu_gate(float x)
{
    return sigmoid((float)(2 * M_2_SQRTPI * M_SQRT1_2) * (x + GELU_CUBIC * x * x * x));
}

static inline HOST_DEVICE float gelu_tanh(float x)
{
    return x * gelu_gate(x);
}

static inline HOST_DEVICE float gelu_tanh_backward(float x, float dy)
{
    const float gate = gelu_gate(x);
    const float slope = (float)(2 * M_2_SQRTPI * M_SQRT1_2) * (1 + 3 * GELU_CUBIC * x * x);
    return dy * gate * (1 + x * (1 - gate) * slope);
}

static inline HOST_DEVICE float silu(float x)
{
    return x * sigmoid(x);
}

static inline HOST_DEVICE float silu_backward(float x, float dy)
{
    const float s = sigmoid(x);
    return dy * s * (1 + x * (1 - s));
}

/* A. Howard et al., "Searching for MobileNetV3", 2019. The comparisons let a NaN through. */
static inline HOST_DEVICE float hardswish(float x)
{
    const float gate = x + 3;
    return x * (gate < 0 ? 0 : gate > 6 ? 6 : gate) / 6;
}

static inline HOST_DEVICE float hardswish_backward(float x, float dy)
{
    return x < -3 ? 0 : x > 3 ? dy : dy * (x / 3 + 0.5F);
}
