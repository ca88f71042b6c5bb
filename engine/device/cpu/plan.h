/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CPU_PLAN_H
#define DPARTUI_ENGINE_DEVICE_CPU_PLAN_H

#include "engine/device/cpu/cpu.h"

/*
 * A plan is a list of steps bound to memory: forward, loss, backward. It is built by walking the
 * graph once in each direction; the builder hands out buffers and notes which step uses which, so
 * that in the end every byte has its place. A file per kind of operation (conv.c, batchnorm.c, ...)
 * provides the two functions of `struct layer_kind`.
 */

typedef bool step_function(struct plan *plan, void *layer, struct error *err);

struct step {
    step_function *run;
    void *layer;
    const struct node *node; /* for messages; NULL: input and loss */
};

/* A library memory object over a buffer; gets the buffer's address when the plan is bound. */
struct binding {
    dnnl_memory_t memory;
    const struct buffer *buffer;
};

/* Something a step works with, released with the plan. */
struct owned {
    void *object;
    void (*release)(void *object); /* of what it holds; the object itself is freed behind it */
};

struct plan {
    struct device *device;
    struct cpu_replica *replica;
    struct plan_request request;
    struct pool pool;
    struct step *steps;
    struct binding *bindings;
    struct owned *owned;
    int step_count, binding_count, owned_count;
    int step_capacity, binding_capacity, owned_capacity;
    size_t input_bytes, scratch_bytes, planned_bytes; /* the workspace, in this order */
    bool bound;
    unsigned workspace_moves; /* of the device when the plan was bound */
    const struct buffer *logits;
    size_t logits_row; /* floats from row to row */
    /* of the running pass */
    const struct batch *batch;
    struct batch_result result;
};

/* The parts of a value's gradient that were made and not yet read. */
struct gradient {
    struct buffer *part[2];
    int count;
};

struct builder {
    struct plan *plan;
    struct device *device;
    struct cpu_replica *replica;
    const struct graph *graph;
    int rows;
    bool training;
    int time;                   /* number of the step being built */
    size_t scratch;             /* bytes of scratch it has taken */
    struct buffer **values;     /* per value of the graph */
    struct gradient *gradients; /* per value */
    void **layers;              /* per node, from its forward to its backward function */
};

struct layer_kind {
    bool (*forward)(struct builder *b, const struct node *node, void **layer, struct error *err);
    /* Called when node->backward is set. NULL: nothing to do. */
    bool (*backward)(struct builder *b, const struct node *node, void *layer, struct error *err);
};

extern const struct layer_kind layer_conv, layer_batchnorm, layer_activation, layer_pool,
    layer_global_pool, layer_linear, layer_flatten, layer_add, layer_dropout;

/* Steps that belong to no node. */
bool build_input(struct builder *b, struct error *err); /* rows of the data set to value 0 */
bool build_loss(struct builder *b, struct error *err);  /* softmax, cross-entropy, its gradient */

/* builder.c. All that return a pointer return NULL with *err filled when memory ran out. */

/* A new buffer of `bytes`. Those for the whole plan must be marked by use; scratch is valid in the
 * step being built only. */
struct buffer *build_buffer(struct builder *b, size_t bytes, struct error *err);
struct buffer *build_scratch(struct builder *b, size_t bytes, struct error *err);
/* A buffer that stands for memory elsewhere. */
struct buffer *build_fixed(struct builder *b, void *data, struct error *err);
/* The step being built reads or writes `buffer`. */
void build_use(struct builder *b, struct buffer *buffer);
/* The value's buffer; made when `value` has none yet. Marks the use. */
struct buffer *build_value(struct builder *b, int value, struct error *err);
/* A zeroed object for a step, released with the plan. `release` may be NULL. */
void *build_object(struct builder *b, size_t size, void (*release)(void *), struct error *err);
/* Finish the step being built. */
bool build_step(struct builder *b, const struct node *node, step_function *run, void *layer,
                struct error *err);

/*
 * Gradients. A value that several nodes read gets a part from each; they are added where its
 * producer cannot take two. A part may belong to two values (an addition hands its own on), so it
 * may be overwritten by its reader only when `gradient_is_mine` says so.
 */
bool gradient_give(struct builder *b, const struct node *node, int value, struct buffer *part,
                   struct error *err);
/* Take the gradient of `value` for the step being built: parts[1] is NULL unless `most` is 2. Both
 * NULL: none ever came. Drop each part with gradient_drop behind the last step that reads it. */
bool gradient_take(struct builder *b, const struct node *node, int value, int most,
                   struct buffer *parts[2], struct error *err);
bool gradient_is_mine(const struct buffer *part);
void gradient_drop(struct buffer *part);
/* A new buffer for a gradient of `value`. */
struct buffer *gradient_new(struct builder *b, int value, struct error *err);
/* Where a gradient of `value` computed from `part` goes: over the part where that may be
 * overwritten, else into a new buffer. */
struct buffer *gradient_result(struct builder *b, struct buffer *part, int value,
                               struct error *err);

/* Addresses of a parameter's numbers in the arenas; NULL for NET_NONE. */
float *param_values(const struct builder *b, int param);
float *param_grads(const struct builder *b, int param);

#endif
