/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CUDA_PLAN_H
#define DPARTUI_ENGINE_DEVICE_CUDA_PLAN_H

#include "engine/device/cuda/cuda.h"
#include "engine/device/cuda/dnn/conv_plan.h"
#include "engine/device/cuda/dnn/matmul.h"
#include "engine/device/cuda/event_times.h"
#include "engine/device/cuda/pass.h"
#include "engine/device/cuda/replica.h"
#include "engine/device/plan/builder.h"

/*
 * A pass on a GPU: its steps queue kernels and library calls on the device's stream. What they read
 * that differs from pass to pass lies in device memory (pass.h), so that the steps behind the input
 * can be captured once, as CUDA graphs, and started as a whole from then on.
 */

/* What a captured piece leaves to be queued each time, such as sums over all devices. */
struct cut {
    bool (*run)(struct plan *plan, const void *layer, const void *what, struct error *err);
    const void *layer, *what;
    cudaGraphExec_t graph; /* the segment behind it */
    struct cut *next;
};

/* Steps up to where a gradient bucket is complete. */
struct piece {
    int begin, end;        /* steps */
    int bucket_end;        /* buckets before this one are complete behind it */
    cudaGraphExec_t graph; /* all of it, or the segment before its first cut; NULL: not captured */
    struct cut *cuts, *last_cut;
};

/* Sums that a convolution makes of its result along the way, f32, a number per channel. */
struct value_sums {
    struct buffer *sums, *squares;
};

struct plan {
    struct plan_core core;
    struct device *device;
    struct cuda_replica *replica;
    struct pass pass;
    struct value_sums *sums;   /* per value of the graph */
    int *done;                 /* per parameter: the step that completes its gradient; -1: none */
    struct widening *widening; /* while it is built: gradients that wait for their launch */
    struct buffer *labels;     /* of the rows */
    bool wide_logits;          /* the last layer makes them in f32 whatever the storage type */
    struct piece *pieces;
    int bucket_count;
    struct event_times times; /* of a plan made with `profile` */
    struct piece *capturing;  /* NULL: steps run as they are queued */
    bool captures;            /* whether pieces are to be captured; false once that failed, too */
    bool warm;                /* has run eagerly, so that libraries have loaded what they need */
    /* What it goes on without: choices of algorithms that cannot be kept for the next time, passes
     * that are not started as graphs. "": nothing. */
    char note[200];
};

/* A layer for each operation, in the files of layers/. */
#define CUDA_LAYER(kind, word) extern const struct layer_kind cuda_layer_##word;
NET_OPERATIONS(CUDA_LAYER)
#undef CUDA_LAYER

bool cuda_build_input(struct builder *b, struct error *err);
bool cuda_build_loss(struct builder *b, struct error *err);

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

/* Bytes that one library call may work in. */
#define CUDA_WORKSPACE_LIMIT ((size_t)256 << 20)

/* The best plan of a convolution on the plan's device, one for all that ask for the same, given
 * back by conv_table_give (conv_table.h). Notes when the choice cannot be kept. */
bool cuda_conv_plan(struct plan *plan, const struct conv_request *request,
                    const struct conv_plan **out, struct error *err);
/* Seconds of one run as known without building anything; NAN: not known, INFINITY: cannot be done.
 */
double cuda_conv_seconds(const struct plan *plan, const struct conv_request *request);

/* pieces.c: cut the plan's steps where buckets end. */
bool cuda_pieces_make(struct plan *plan, struct error *err);
void cuda_pieces_forget(struct plan *plan); /* the captured graphs: addresses have changed */
/* at_rest: the device does not run their graphs; else these are left. */
void cuda_pieces_free(struct plan *plan, bool at_rest);
/* In the middle of a step, in place of run(plan, layer, what, err): where the step is being
 * captured, graphs are cut there and it is called between them, each time. */
bool cuda_pieces_cut(struct plan *plan,
                     bool (*run)(struct plan *plan, const void *layer, const void *what,
                                 struct error *err),
                     const void *layer, const void *what, struct error *err);
/* Queue all steps, and tell of each bucket behind the last step that writes to it. */
bool cuda_pieces_run(struct plan *plan, struct error *err);

#endif
