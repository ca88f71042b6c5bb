/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CUDA_CUDA_H
#define DPARTUI_ENGINE_DEVICE_CUDA_CUDA_H

#include "engine/device/cuda/api.h"
#include "engine/device/cuda/kernels/kernels.h"
#include "engine/device/device.h"

/* What the files of the CUDA backend share. */

/* A pass that was queued and not yet taken (queue.c). */
struct queued_pass {
    struct plan *plan;
    cudaEvent_t at[PASS_MOMENTS];
    bool marked[PASS_MOMENTS];
};

/*
 * A device is the thread that opened it. Everything is queued on `stream` in order; `side` is for
 * what may overlap it: rows staged ahead. (Reductions between GPUs have streams of their own.)
 */
struct device {
    char name[16];  /* "cuda:1" */
    int ordinal;    /* as the runtime counts */
    char model[96]; /* "NVIDIA H200" */
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
    unsigned workspace_moves;  /* how often it was replaced: plans bound before must rebind */
    struct conv_table *convs;  /* plans of convolutions (conv_table.h); NULL: none yet */
    bool profiles;             /* a plan of it is profiled: what is queued is waited for */
    struct resident *resident; /* data sets kept in the device's memory (resident.c) */
    struct queued_pass passes[PASSES_QUEUED];
    long queued, taken;       /* passes so far */
    bool has_turn;            /* turn.c */
    bool given_up;            /* it did not come to rest */
    struct device *next_left; /* closed without that */
};

/* machine.c */
bool cuda_enumerate(struct device_info *list, int capacity, int *count, char *why, size_t why_size,
                    struct error *err);
bool cuda_open(const struct device_options *options, struct device **out, struct error *err);
void cuda_close(struct device *device);
/* Make the device the calling thread's own; before anything else on a thread. */
bool cuda_select(const struct device *device, struct error *err);

/* Is all done that was queued, after a short wait? Else the device may still use what it was given,
 * which is then left to the end of the process. */
bool cuda_comes_to_rest(struct device *device);

/* driver.c: in one line, why there is no GPU when the runtime says `status` for the first call. */
void cuda_absence(cudaError_t status, char *why, size_t size);

/*
 * wait.c: wait until all that was queued on `stream` is done. Never a bare synchronize: polls, and
 * fails when the run is called off or after watch.limit_s. `what` is being waited for.
 */
bool cuda_wait(const struct device *device, cudaStream_t stream, const char *what,
               struct error *err);
/* The same for what was queued before the event was recorded. */
bool cuda_wait_event(const struct device *device, cudaEvent_t event, const char *what,
                     struct error *err);
/* A short rest between two looks at something that a thread has waited for since `began`: none at
 * first, when it comes soon. */
void cuda_rest(double began);
/* While `what` has been waited for since `began`: is there no reason to give up? */
bool cuda_still_waits(const struct device *device, const char *what, double began,
                      struct error *err);

/*
 * turn.c: loading code, and whatever waits for a whole GPU, spoils the capture of a stream by
 * another thread on the same one. So whoever does either takes the GPU's turn first. A thread that
 * has it must wait for no other device that may be on this GPU: cuda_host_allreduce lends it out
 * meanwhile. (NCCL's ranks are on GPUs of their own.)
 */
bool cuda_turn_take(struct device *device, struct error *err);
void cuda_turn_give(struct device *device);
bool cuda_host_allreduce(struct device *device, const struct device_allreduce *allreduce,
                         double *values, size_t count, struct error *err);

/* queue.c: the events of queued passes; begin the next one, whose slot (below PASSES_QUEUED) no
 * other has until it is taken, or take that back. */
bool cuda_queue_open(struct device *device, struct error *err);
void cuda_queue_close(struct device *device);
bool cuda_queue_begin(struct device *device, struct plan *plan, int *slot, struct error *err);
void cuda_queue_undo(struct device *device);
bool cuda_plan_mark(struct device *device, enum pass_moment moment, struct error *err);
bool cuda_plan_take(struct device *device, struct pass_outcome *out, struct error *err);

/* replica.c */
bool cuda_replica_create(struct device *device, const struct net *net, struct replica **out,
                         struct error *err);
void cuda_replica_destroy(struct device *device, struct replica *replica);
bool cuda_replica_import(struct device *device, struct replica *replica,
                         const struct weights *weights, struct error *err);
bool cuda_replica_export(struct device *device, const struct replica *replica,
                         struct weights *weights, struct error *err);
bool cuda_values_export(struct device *device, const struct replica *replica,
                        enum replica_arena arena, float *values, struct error *err);
bool cuda_values_import(struct device *device, struct replica *replica, enum replica_arena arena,
                        const float *values, struct error *err);
bool cuda_arena_read(struct device *device, const struct replica *replica, enum replica_arena arena,
                     size_t begin, size_t end, float *host, struct error *err);
bool cuda_arena_write(struct device *device, struct replica *replica, enum replica_arena arena,
                      size_t begin, size_t end, const float *host, struct error *err);
bool cuda_sgd(struct device *device, struct replica *replica, size_t begin, size_t end,
              const struct optimizer_step *step, struct error *err);

/* plan.c */
bool cuda_plan_create(struct device *device, struct replica *replica,
                      const struct plan_request *request, struct plan **out, struct error *err);
void cuda_plan_destroy(struct device *device, struct plan *plan);
void cuda_plan_memory(const struct plan *plan, struct plan_memory *out);
bool cuda_plan_run(struct device *device, struct plan *plan, const struct batch *batch,
                   struct batch_result *result, struct error *err);
bool cuda_plan_queue(struct device *device, struct plan *plan, const struct batch *batch,
                     struct error *err);
struct plan_time *cuda_plan_profile(struct plan *plan, int *count);
const char *cuda_plan_note(const struct plan *plan);
bool cuda_plan_logits(struct device *device, struct plan *plan, float *logits, struct error *err);

/* resident.c: gives back what a device keeps of data sets; NULL: nothing. Of one that is not at
 * rest, and may still be reading and writing, only what it does not know of. */
void cuda_resident_destroy(struct resident *resident, bool at_rest);

#endif
