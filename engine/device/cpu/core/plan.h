/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/core/device.h"
#include "engine/device/cpu/core/parameters.h"
#include "engine/device/plan/builder.h"

/* A library memory object over a buffer; gets the buffer's address when the plan is bound. */
struct binding {
    dnnl_memory_t memory;
    const struct buffer *buffer;
};

struct conv_fusion;
struct lanes_net;

struct plan {
    struct plan_core core;
    struct device *device;
    struct cpu_replica *replica;
    bool bf16;                   /* values and their gradients are; otherwise f32 */
    struct conv_fusion *fusions; /* conv/fusion.h, per value of the graph */
    struct lanes_net *lanes;     /* of a small network; owned by `core` */
    struct binding *bindings;
    int binding_count, binding_capacity;
};
