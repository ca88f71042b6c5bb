/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/plan/core.h"
#include "engine/device/plan/graph.h"

/*
 * How plans are built: by walking the graph once in each direction. The builder hands out buffers
 * and notes which step uses which, so that in the end every byte has its place. A file per kind of
 * operation (conv.c, batchnorm.c, ...) provides the two functions of `struct layer_kind`.
 */

/* The parts of a value's gradient that were made and not yet read. */
struct gradient {
    struct buffer *part[2];
    int count;
};

/* What a step is, for a profile. Zeroed: that pass of its node, which needs no other word. */
struct step_label {
    enum plan_direction direction;
    bool apart;      /* not the operation itself, whose FLOPs another step of it has */
    bool hands_over; /* PLAN_HANDOVER */
    char method[sizeof((struct plan_time *)NULL)->method];
};

struct builder;

/* Recomputes the output of `node` into `to`, in a step of the backward pass. */
typedef bool recompute_function(struct builder *b, const struct node *node, void *layer,
                                struct buffer *to, struct error *err);

/* How a value is recomputed that was not kept. */
struct recompute {
    recompute_function *make; /* NULL: it was */
    const struct node *node;
    void *layer;
};

struct builder {
    struct plan *plan;      /* the backend's, around `core` */
    struct plan_core *core; /* what is being built */
    struct device *device;
    const struct build_backend *backend;
    const struct graph *graph;
    int rows;          /* of the node being built */
    bool global_batch; /* they are those of all devices */
    bool training;
    bool backward;               /* the backward pass is being built */
    int time;                    /* number of the step being built */
    size_t bytes;                /* of the values that the step being built uses */
    struct step_label label;     /* of it, until it is finished */
    struct buffer **values;      /* per value of the graph */
    struct gradient *gradients;  /* per value */
    void **layers;               /* per node, from its forward to its backward function */
    struct recompute *recompute; /* per value */
};

struct unary_kind;

/* How a backend builds an operation. */
struct layer_kind {
    const struct unary_kind *unary; /* unary_layer.h; then the functions below are NULL */
    bool (*forward)(struct builder *b, const struct node *node, void **layer, struct error *err);
    /* Called when node->backward is set. */
    bool (*backward)(struct builder *b, const struct node *node, void *layer, struct error *err);
    /* What the backward function has left to plan_finish, over finish_rows rows.
     * NULL: it leaves nothing. */
    bool (*finish)(struct builder *b, const struct node *node, void *layer, struct error *err);
};

/* What the steps of a backend are made by. */
struct build_backend {
    size_t number_size; /* bytes of one number of a value */
    const char *method; /* of steps that are given none; NULL: none */
    const struct layer_kind *(*layer_of)(enum net_kind kind);
    /* Before all steps; NULL: nothing to do. */
    bool (*begin)(struct builder *b, struct error *err);
    /* Steps that belong to no node: the rows of the data set to value 0; softmax, cross-entropy and
     * its gradient, core->logits and core->logits_row (in a plan with rows). */
    bool (*input)(struct builder *b, struct error *err);
    bool (*loss)(struct builder *b, struct error *err);
    /* sum = left + right over `count` numbers; runs as a step on an object of three buffers. */
    step_function *run_addition;
    /* Copy between the plan's memory and where stages meet; `from` NULL: zeros. NULL: there are no
     * stages. */
    bool (*copy)(struct plan *plan, void *to, const void *from, size_t bytes, struct error *err);
    bool copies_ends; /* what another stage gives is copied before it is read */
};

/* What run_addition is given. */
struct addition {
    const struct buffer *left, *right;
    struct buffer *sum; /* may be either */
    size_t count;
};

/* All that return a pointer return NULL with *err filled when memory ran out. */

/* What is built next has the rows of all devices, or this one's own. */
void build_rows(struct builder *b, bool global_batch);
/* A new buffer of `bytes`. Those for the whole plan must be marked by use; scratch is valid in the
 * step being built only. */
struct buffer *build_buffer(struct builder *b, size_t bytes, struct error *err);
struct buffer *build_scratch(struct builder *b, size_t bytes, struct error *err);
/* A buffer for staged rows, which keeps its contents for the whole pass. */
struct buffer *build_input_buffer(struct builder *b, size_t bytes, struct error *err);
/* A buffer of a stage that keeps what each micro-batch writes, at its rows, until plan_finish. */
struct buffer *build_deferred_buffer(struct builder *b, size_t bytes, struct error *err);
/* A buffer that stands for memory elsewhere. */
struct buffer *build_fixed(struct builder *b, void *data, struct error *err);
/* The step being built reads or writes `buffer`. */
void build_use(struct builder *b, struct buffer *buffer);
/* The value's buffer; made when `value` has none yet. Marks the use. */
struct buffer *build_value(struct builder *b, int value, struct error *err);
/*
 * Memory for time: a node says in its forward function that its output need not be kept until the
 * backward pass, where `make` recomputes it (Chen et al. 2016, arXiv:1604.06174). Layers that
 * read it there ask for it by build_forward_value, before they begin their step.
 */
void build_recomputed(struct builder *b, const struct node *node, recompute_function *make,
                      void *layer);
/* The value as the forward pass left it; takes a step where it has to be recomputed. */
struct buffer *build_forward_value(struct builder *b, int value, struct error *err);
/* A zeroed object for a step, released with the plan. `release` may be NULL. */
void *build_object(struct builder *b, size_t size, void (*release)(void *), struct error *err);
/* Say what the step being built is, where its node takes several in a pass, and by which of several
 * methods ("" for the only one). */
void build_label(struct builder *b, enum plan_direction direction, const char *method);
/* The same of a step that does what the node's step of this direction leaves to it. */
void build_label_apart(struct builder *b, enum plan_direction direction, const char *method);
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
/* The step of the loss, which in training writes the first gradient, that of the logits. */
bool build_loss_step(struct builder *b, step_function *run, void *loss,
                     const struct buffer **gradient, struct error *err);
/* Take the gradient of `value` for the step being built: parts[1] is NULL unless `most` is 2. Both
 * NULL: there is none. Drop each part with gradient_drop after the last step that reads it. */
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
