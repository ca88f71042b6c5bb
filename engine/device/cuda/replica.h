/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CUDA_REPLICA_H
#define DPARTUI_ENGINE_DEVICE_CUDA_REPLICA_H

#include "engine/device/cuda/cuda.h"
#include "engine/device/plan/graph.h"

/* Where a parameter lies in the arenas, and in which order of numbers. */
enum place_kind {
    PLACE_VECTOR, /* as it is, with zeros up to a multiple of 16 */
    PLACE_FILTER, /* filters [out][kernel_h][kernel_w][in], rows of linear layers [out][h][w][in] */
    PLACE_STATISTICS, /* a vector in `statistics` */
};

struct place {
    enum place_kind kind;
    size_t offset; /* floats into params, grads and each state, or into statistics */
    size_t size;   /* floats, padding included; a multiple of 16 */
    /* PLACE_FILTER: the network's [out][channels][taps] is stored as [out][taps][channels], tap by
     * tap `stride` floats apart, one output `row` floats behind the other. */
    size_t out, channels, taps, stride, row;
};

/* Learning rate, momentum and weight decay, as kernel_sgd reads them. */
#define RATES       4
#define RATES_SLOTS 64

struct cuda_replica {
    struct replica base; /* first: the interface knows this one only */
    struct graph graph;
    struct place *places; /* per parameter of the network */
    void *memory;         /* all arenas */
    /* bf16 copies of params, at the same offsets; NULL: the storage type is f32. */
    uint16_t *copies;
    /* The last settings of SGD: in device memory, and pinned memory that they are copied from. A
     * new slot for each change, so that none is overwritten on its way. */
    float *rates, *host_rates;
    uint32_t *counters; /* KERNEL_COUNTERS, of the kernels that sum (kernels.h) */
    int slot;
    struct optimizer_step step; /* in `slot` */
    bool step_known;
};

/* replica_layout.c */
struct replica_sizes {
    size_t trained, statistics; /* floats */
};

/* Give every parameter its place: trained ones in the order in which the backward pass completes
 * their gradients. Needs base.net and graph. */
bool cuda_replica_lay_out(struct cuda_replica *replica, struct replica_sizes *sizes,
                          struct error *err);

#endif
