/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/dnn/conv/plan.h"
#include "engine/device/cuda/dnn/engine.h"

/* Which pointers a run gets: a variant pack, released with dnn_release; NULL: ERROR_FAILED. */
cudnnBackendDescriptor_t conv_pack(const struct cudnn_api *api, const struct conv_request *request,
                                   void *const pointers[CONV_ROLES], void *workspace,
                                   struct error *err);

/*
 * Times plans of one request on the maker's stream, on memory of its own filled with random
 * numbers, and checks their results. Opened for each request that is autotuned.
 */
struct conv_autotune;

/* False: ERROR_FAILED, the device itself is in trouble. *out is NULL where its memory is too small
 * for this. */
bool conv_autotune_open(const struct conv_maker *maker, const struct conv_request *request,
                        struct conv_autotune **out, struct error *err);
void conv_autotune_close(struct conv_autotune *autotune);

/*
 * *seconds: median of one run, several of which are captured as a CUDA graph, as in training: the
 * start of a single short kernel would take longer than the kernel. NAN: the plan does not run,
 * cannot be captured, computes something else (then *wrong tells what, until the next call; else
 * NULL), or its workspace is too large for the memory. A plan that one run shows to take more than
 * twice `best` (INFINITY: none yet; -INFINITY: only results matter) is not timed further. False:
 * ERROR_FAILED, the device itself is in trouble.
 */
bool conv_autotune_time(struct conv_autotune *autotune, const struct dnn_plan *plan, double best,
                        double *seconds, const char **wrong);
