/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/dnn/conv/plan.h"
#include "engine/device/cuda/dnn/engine.h"

/* The best engine found for a request. */
struct conv_found {
    struct dnn_plan way;
    struct dnn_choice choice;
    double seconds; /* NAN: not measured */
};

/* What conv_plan_create says; `graph` is the request's. out->way is the caller's to free. */
bool conv_search(struct conv_maker *maker, const struct conv_request *request,
                 cudnnBackendDescriptor_t graph, struct conv_found *out, struct error *err);

/*
 * The candidates that tuning would time, in this order; at most CONV_TIMED, and as many of an
 * engine that has to be compiled as order.h allows. False: ERROR_FAILED, nothing is offered.
 */
bool conv_search_candidates(const struct conv_maker *maker, const struct conv_request *request,
                            cudnnBackendDescriptor_t graph, const struct dnn_target *target,
                            struct dnn_candidate *candidates, int *count, struct error *err);

/* Seconds of one run by the choice that the cache has for a request, without making the plan; NAN:
 * none was made, INFINITY: no engine does it. */
double conv_search_remembered(const struct conv_maker *maker, const struct conv_request *request);
