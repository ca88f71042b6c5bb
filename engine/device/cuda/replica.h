/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CUDA_REPLICA_H
#define DPARTUI_ENGINE_DEVICE_CUDA_REPLICA_H

#include "engine/device/cuda/cuda.h"
#include "engine/device/plan/param_places.h"

/* Filters of a convolution, [out][kernel_h][kernel_w][in], or rows of a linear layer,
 * [out][h][w][in]: the network's [out][channels][taps] is stored as [out][taps][channels], tap by
 * tap `stride` floats apart, one output `row` floats after the other. */
struct filter_layout {
    size_t out; /* 0: not such a parameter, numbers lie as they are */
    size_t channels, taps, stride, row;
};

/* Learning rate, momentum and weight decay, as kernel_sgd reads them. */
#define RATES       4
#define RATES_SLOTS 64

struct cuda_replica {
    struct replica base; /* first: the interface knows this one only */
    struct graph graph;
    struct param_places places;
    struct filter_layout *filters; /* per parameter of the network */
    void *memory;                  /* all arenas */
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

/* replica_layout.c: give every parameter its place and layout. Needs base.net and graph. */
bool cuda_replica_lay_out(struct cuda_replica *replica, struct error *err);

#endif
