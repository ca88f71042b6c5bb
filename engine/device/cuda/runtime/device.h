/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/kernels/kernels.h"
#include "engine/device/cuda/libraries/api.h"
#include "engine/device/device.h"

/* So many sums of squares may be asked for in a pass: of each bucket, and of their sums. */
enum { PASS_SQUARE_SUMS = 64 };

/* A pass that was queued and not yet taken (pass/queue.h). */
struct queued_pass {
    struct plan *plan;
    double *squares; /* pinned memory: those that were asked for, in their order */
    enum pass_squares square_kinds[PASS_SQUARE_SUMS];
    int square_count;
    cudaEvent_t at[PASS_MOMENTS];
    bool marked[PASS_MOMENTS];
};

/* What a pass waits for that another GPU does. */
struct awaited {
    cudaEvent_t event;
    const char *name; /* the other's; borrowed */
};

/*
 * A device is the thread that opened it. Everything is queued on `stream` in order; `side` is for
 * what may overlap it: rows staged ahead. (Reductions between GPUs have their own streams.)
 */
struct device {
    char name[DEVICE_NAME]; /* "cuda:1" */
    int ordinal;            /* as the runtime counts */
    char model[96];         /* "NVIDIA H200" */
    int multiprocessors;
    enum number_type type;  /* never TYPE_DEFAULT */
    enum cuda_type storage; /* of activations and of the weights that they meet */
    bool deterministic;
    struct device_watch watch;
    const struct cudnn_api *cudnn;
    const struct cublaslt_api *cublaslt;
    cudnnHandle_t dnn;
    cublasLtHandle_t blas;
    cudaStream_t stream, side;
    void *workspace; /* of the one plan that is running */
    size_t workspace_size;
    unsigned workspace_moves; /* how often it was replaced: plans bound before must rebind */
    /* Of stages: what each micro-batch keeps from forward to backward, and where it meets the next
     * one. */
    char *slots, *ends;
    size_t slot_size, ends_size;
    int slot_count;
    struct conv_table *convs;  /* plans of convolutions (dnn/conv/table.h); NULL: none yet */
    bool profiles;             /* a plan of it is profiled: what is queued is waited for */
    struct resident *resident; /* rows kept in the device's memory (pass/rows.h) */
    struct queued_pass passes[PASSES_QUEUED];
    long queued, taken;      /* passes so far */
    struct awaited *awaited; /* by the pass that is queued, in its order */
    int awaited_count, awaited_room;
    bool has_turn;            /* turn.h */
    bool given_up;            /* it did not come to rest */
    bool shared;              /* other GPUs may read and write its memory */
    struct device *next_left; /* closed without that */
};

/* Make the device the calling thread's own; before anything else on a thread. */
bool cuda_select(const struct device *device, struct error *err);

/* For struct backend: have the device read another's memory directly, where it can. */
bool cuda_reach(struct device *device, struct device_id other, struct error *err);

/* Count the devices that are open; whether all GPUs of those came to rest, as far as is known. */
void cuda_count_open(int change);
bool cuda_all_at_rest(void);

/* For struct backend, too. Is all done that was queued, after a short wait? If not, the device may
 * still use the memory that it was given, which is then not freed. */
bool cuda_comes_to_rest(struct device *device);
