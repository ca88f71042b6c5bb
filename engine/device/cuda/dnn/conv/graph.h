/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/dnn/conv/request.h"
#include "engine/device/cuda/libraries/api.h"

/* A request as a graph of cuDNN's operations; each tensor that the caller gives has its role as
 * UNIQUE_ID. */
#define CONV_GRAPH_PARTS      40
#define CONV_GRAPH_OPERATIONS 8

struct conv_graph {
    const struct cudnn_api *api;
    cudnnBackendDescriptor_t graph; /* the operation graph, finalized */
    cudnnBackendDescriptor_t parts[CONV_GRAPH_PARTS];
    int part_count;
    cudnnBackendDescriptor_t operations[CONV_GRAPH_OPERATIONS]; /* also among the parts */
    int operation_count;
    int64_t inner; /* tensors that live inside the graph only */
};

/* `handle` may be NULL (a described device). False: ERROR_FAILED; conv_graph_free is fine in either
 * case. A graph made is no promise that any engine computes it. */
bool conv_graph_build(struct conv_graph *graph, const struct cudnn_api *api, cudnnHandle_t handle,
                      const struct conv_request *request, struct error *err);
void conv_graph_free(struct conv_graph *graph);
