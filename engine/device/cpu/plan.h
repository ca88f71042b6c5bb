/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CPU_PLAN_H
#define DPARTUI_ENGINE_DEVICE_CPU_PLAN_H

#include "engine/device/cpu/cpu.h"
#include "engine/device/plan/builder.h"

/* A library memory object over a buffer; gets the buffer's address when the plan is bound. */
struct binding {
    dnnl_memory_t memory;
    const struct buffer *buffer;
};

struct lanes_net;

struct plan {
    struct plan_core core;
    struct device *device;
    struct cpu_replica *replica;
    struct lanes_net *lanes; /* of a small network; owned by `core` */
    struct binding *bindings;
    int binding_count, binding_capacity;
};

extern const struct layer_kind layer_conv, layer_batchnorm, layer_activation, layer_pool,
    layer_global_pool, layer_linear, layer_flatten, layer_add, layer_dropout;

/* The step in front of all layers: the batch's rows as numbers, in the layout of values. */
bool build_input(struct builder *b, struct error *err);
/* The step behind them: losses, rows right and, for training, the gradient of the logits. */
bool build_loss(struct builder *b, struct error *err);

/* Addresses of a parameter's numbers in the replica's arenas; NULL for NET_NONE. Running statistics
 * have no gradient: param_grads is not for them. */
float *param_values(const struct builder *b, int param);
float *param_grads(const struct builder *b, int param);

#endif
