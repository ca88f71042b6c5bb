/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CUDA_DNN_CONV_REQUEST_H
#define DPARTUI_ENGINE_DEVICE_CUDA_DNN_CONV_REQUEST_H

#include "engine/device/cuda/dnn/conv_plan.h"

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

#endif
