/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/replica/layout.h"
#include "engine/device/cuda/runtime/device.h"
#include "engine/device/plan/param_places.h"

#define STEP_SLOTS 64

struct cuda_replica {
    struct replica base; /* first: the interface knows this one only */
    struct graph graph;
    struct param_places places;
    struct filter_layout *filters; /* per parameter of the network */
    enum cuda_type storage;        /* of values, the device's */
    void *memory;                  /* all arenas */
    /* bf16 copies of params, at the same offsets; NULL: the storage type is f32. */
    uint16_t *copies;
    /* The last steps of the optimizer that differed: in device memory, and pinned memory that they
     * are copied from. A new slot for each, so that none is overwritten on its way. */
    struct optimizer_step *steps, *host_steps;
    /* Of a stage: the gradients of one micro-batch, which are added to the mini-batch's; and of
     * BatchNorm's running statistics those of its rows so far. */
    float *parts;
    double *gathered;
    struct gradient_norm *norm; /* device memory; of a step that clips */
    float *host_norm;           /* pinned memory, what base.grad_norm points to */
    uint32_t *counters;         /* KERNEL_COUNTERS, of the kernels that sum (kernels.h) */
    int slot;
    bool step_known;
};

/* For struct backend. */
bool cuda_replica_create(struct device *device, const struct net *net,
                         const struct replica_request *request, struct replica **out,
                         struct error *err);
void cuda_replica_destroy(struct device *device, struct replica *replica);
bool cuda_values_export(struct device *device, const struct replica *replica,
                        enum replica_arena arena, float *values, struct error *err);
bool cuda_values_import(struct device *device, struct replica *replica, enum replica_arena arena,
                        const float *values, struct error *err);
bool cuda_arena_read(struct device *device, const struct replica *replica, enum replica_arena arena,
                     size_t begin, size_t end, float *host, struct error *err);
bool cuda_arena_write(struct device *device, struct replica *replica, enum replica_arena arena,
                      size_t begin, size_t end, const float *host, struct error *err);

/* Queue what follows from new params[begin..end): the bf16 copies of them that products read. */
bool cuda_replica_copy_params(const struct replica *replica, size_t begin, size_t end,
                              cudaStream_t stream, struct error *err);
