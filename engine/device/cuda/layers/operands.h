/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/pass/plan.h"

/* What most steps need. */
struct tensor_shape cuda_shape(const struct builder *b, int value);
/* Numbers of a value over all rows. */
size_t cuda_count(const struct builder *b, int value);
/* ERROR_FAILED unless a kernel was started. */
bool cuda_kernel(cudaError_t status, struct error *err);

/* Addresses of a parameter's numbers; NULL for NET_NONE. Weights are of the storage type. The step
 * being built is the one that completes the gradients asked for. */
float *cuda_param(const struct builder *b, int param);
const void *cuda_weights(const struct builder *b, int param);
float *cuda_grads(struct builder *b, int param);
