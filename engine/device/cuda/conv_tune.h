/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CUDA_CONV_TUNE_H
#define DPARTUI_ENGINE_DEVICE_CUDA_CONV_TUNE_H

#include "engine/device/cuda/conv_request.h"
#include "engine/device/cuda/dnn_engine.h"

/* Which pointers a run gets: a variant pack, released with dnn_release; NULL: ERROR_FAILED. */
cudnnBackendDescriptor_t conv_pack(const struct cudnn_api *api, const struct conv_request *request,
                                   void *const pointers[CONV_ROLES], void *workspace,
                                   struct error *err);

/*
 * Time plans of one request on the maker's stream, on memory of their own filled with random
 * numbers. seconds[i]: median of one run, NAN where the plan does not run. False: ERROR_FAILED,
 * the device itself is in trouble. Where its memory is too small for this all are NAN.
 */
bool conv_tune(const struct conv_maker *maker, const struct conv_request *request,
               const struct dnn_plan *plans, int count, double *seconds, struct error *err);

#endif
