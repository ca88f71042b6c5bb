/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/dnn/conv/request.h"
#include "engine/device/cuda/libraries/api.h"

/* Device pointers; those that the pattern does not name are not looked at. */
struct conv_tensors {
    void *x, *w, *y;
    const float *bias;
    float *sums, *squares;
};

struct conv_plan;

/*
 * Where plans are made: for a device that is there (`handle`; candidates are timed on `stream` when
 * `autotune`; else the first is taken, of fused patterns the first whose results are right), or for
 * one that is described in JSON (cuDNN's device properties; nothing can be run).
 */
struct conv_maker {
    const struct cudnn_api *api;
    cudnnHandle_t handle;    /* NULL: described */
    const char *description; /* NULL: `handle` */
    cudaStream_t stream;
    bool autotune;
    const char *device_name; /* "NVIDIA H200": part of the key in the cache of choices */
    const char *cache_path;  /* file of choices made before; NULL: none */
    const char *store_path;  /* folder of compiled plans (store.h); NULL: none */
    size_t workspace_limit;  /* bytes; a plan that needs more is not taken */
    /* Seconds that may still be spent on compiling, which are taken off; NULL: no limit. Once it is
     * used up, only what cannot be done without is compiled. Choices that this has narrowed are not
     * remembered: the next start finds those made before, and spends its time on the others. */
    double *compile_left;
    /* Out: to report once (ERROR_NONE: nothing): why something could not be remembered or was not
     * taken from what is, or that no engine was seen to compute what was asked for. The plans are
     * as good without. */
    struct error cache_error;
};

/*
 * The best plan for a request: as remembered in the cache, or the fastest of the candidates that
 * heuristics offer whose results agree with those of plain loops (check.h), or (not tuning, or
 * too little memory for it) the first that can be built. Deterministic requests are neither timed
 * nor remembered, since a choice by time may be another one in the next run. Fused patterns are
 * compiled by cuDNN, which takes seconds, once: the compiled plan is kept in `store_path`. A plan
 * serves any tensors; table.h has one for all requests that are equal. ERROR_FAILED says what
 * was asked for and what cuDNN says; of a pattern that does more than a convolution it is no
 * accident: ask for the parts.
 */
bool conv_plan_create(struct conv_maker *maker, const struct conv_request *request,
                      struct conv_plan **out, struct error *err);
void conv_plan_destroy(struct conv_plan *plan);
size_t conv_plan_workspace(const struct conv_plan *plan); /* bytes */
/* Median seconds of one run as measured when autotuned; NAN: not measured. */
double conv_plan_seconds(const struct conv_plan *plan);
/* "eng20{k2=9}...": as cuDNN calls it; for the record. */
const char *conv_plan_name(const struct conv_plan *plan);

/* Queue one run. `workspace`: 256-byte aligned, conv_plan_workspace bytes. Can be captured. */
bool conv_plan_run(const struct conv_plan *plan, cudnnHandle_t handle,
                   const struct conv_tensors *tensors, void *workspace, struct error *err);
