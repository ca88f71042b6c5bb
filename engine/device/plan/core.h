/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/device.h"
#include "engine/device/plan/graph.h"
#include "engine/device/plan/memory_pool.h"
#include "engine/device/plan/param_places.h"

/*
 * What the plans of all backends have in common: a list of steps (forward, loss, backward) bound to
 * memory. Built by builder.h.
 */

typedef bool step_function(struct plan *plan, void *layer, struct error *err);

struct step {
    step_function *run;
    void *layer;
    const struct node *node; /* for messages; NULL: input and loss */
    bool global_batch;       /* it works on batch->global */
};

/* Something a step works with, released with the plan. */
struct owned {
    void *object;
    void (*release)(void *object); /* of what it holds; the object itself is freed after it */
};

struct plan_core {
    struct plan_request request;
    struct pool pool;
    struct step *steps;
    struct plan_time *times; /* per step, or NULL: nobody wants to know */
    struct owned *owned;
    int step_count, owned_count;
    int step_capacity, time_capacity, owned_capacity;
    size_t input_bytes, planned_bytes, scratch_bytes; /* the workspace; see pool_layout */
    size_t kept_bytes;                                /* of a stage's slot */
    size_t deferred_bytes;                            /* of the workspace, its first */
    int forward_steps;                                /* the backward pass begins there */
    int backward_steps;                               /* what is left to plan_finish begins there */
    int *gradient_steps; /* per parameter: the step that completes its gradient; -1: none */
    bool bound;
    unsigned workspace_moves; /* of the device when the plan was bound */
    struct buffer *logits;
    int logits_rows;
    size_t logits_row;  /* numbers from row to row */
    uint8_t *predicted; /* batch_result's, where the host writes it; NULL: nobody wants it */
    /* of the running pass */
    const struct batch *batch;
    const struct micro_batch *micro; /* NULL: no stage's */
    bool adds;                       /* its gradients to those in the arena */
    int deferred_rows;               /* that plan_finish has to do with */
    struct batch_result result;
};

struct build_backend;

/*
 * Fill in the steps of `core` (whose request is set), part of `plan`, and lay out its memory. What
 * was made is the plan's, on failure too; release it with plan_core_free. `backend` is of
 * builder.h.
 */
bool plan_core_build(struct plan_core *core, struct plan *plan, struct device *device,
                     const struct graph *graph, const struct build_backend *backend,
                     struct error *err);

/* Bytes of workspace that a pass needs. */
static inline size_t plan_core_bytes(const struct plan_core *core)
{
    return core->deferred_bytes + core->input_bytes + core->scratch_bytes + core->planned_bytes;
}

void plan_core_memory(const struct plan_core *core, struct plan_memory *out);

/* Give every buffer its address in the workspace, which has moved since the last pass, and, of a
 * stage, in the micro-batch's slot. */
void plan_core_bind(struct plan_core *core, void *workspace, void *slot);
/* The last step that writes to the gradients in front of `end` of the replica's arena; -1: none. */
int plan_core_gradient_step(const struct plan_core *core, const struct net *net,
                            const struct param_places *places, size_t end);
/*
 * Run steps [begin, end). Errors begin with the names of the device and the operation.
 */
bool plan_core_run(struct plan_core *core, struct plan *plan, const struct net *net,
                   const char *device_name, int begin, int end, struct error *err);
void plan_core_free(struct plan_core *core);
