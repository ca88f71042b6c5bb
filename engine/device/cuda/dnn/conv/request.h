/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/device/cuda/kernels/kernels.h"
#include "spec/spec.h"

/*
 * One convolution as cuDNN's graph API computes it. Tensors are channels-last (NHWC), filters
 * [out][kernel_h][kernel_w][in], channels filled up to multiples of 8, everything aligned to 16
 * bytes. With TYPE_BF16 tensors and filters are bf16, with TYPE_F32 and TYPE_TF32 they are f32, of
 * which only the latter lets tensor cores round the factors; all accumulate in f32.
 */
enum conv_pattern {
    CONV_FORWARD,       /* y = conv(x, w) */
    CONV_FORWARD_STATS, /* also sums[c], squares[c] of y, f32, before y is rounded */
    CONV_FORWARD_BIAS,  /* y = conv(x, w) + bias[c] [ReLU] (f32 bias) */
    CONV_DATA,          /* x = gradient of the data, from y and w; overwrites */
    CONV_WEIGHTS,       /* w = gradient of the filters, from x and y; overwrites */
    CONV_PATTERNS
};

struct conv_request {
    enum conv_pattern pattern;
    enum number_type type; /* TYPE_F32, TYPE_TF32, TYPE_BF16 */
    int rows, in, in_h, in_w, out, out_h, out_w;
    int kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
    bool relu;          /* where the pattern says so */
    bool deterministic; /* no engine whose result depends on timing */
};

/* What a request says about its tensors. A tensor's number is also its UNIQUE_ID for cuDNN. */
enum conv_role { CONV_X = 1, CONV_W, CONV_Y, CONV_BIAS, CONV_SUMS, CONV_SQUARES, CONV_ROLES };

/* ERROR_FAILED: what makes no sense about it (a program error, so for whoever debugs it). */
bool conv_request_check(const struct conv_request *request, struct error *err);

bool conv_role_used(const struct conv_request *request, enum conv_role role);
bool conv_role_written(const struct conv_request *request, enum conv_role role);
/* rows, channels, height, width; for filters out, in, kernel_h, kernel_w; for what goes by channel
 * 1, channels, 1, 1. */
void conv_role_dims(const struct conv_request *request, enum conv_role role, int64_t dims[4]);
enum cuda_type conv_role_type(const struct conv_request *request, enum conv_role role);
size_t conv_role_bytes(const struct conv_request *request, enum conv_role role);
const char *conv_role_name(enum conv_role role); /* "x", "bias" */

/* "conv 3x3/1 64x28x28 -> 64, 256 rows, bf16, data": for messages and records, and different for
 * different requests; buffer (256 bytes are enough) returned. */
const char *conv_request_text(const struct conv_request *request, char *buffer, size_t size);
