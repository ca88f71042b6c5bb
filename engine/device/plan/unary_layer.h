/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/plan/builder.h"

/* How layers without parameters on one value are built, on all devices; backends give the steps. */

/* A backend has it at the front of its own object. */
struct unary_layer {
    struct buffer *x, *y, *dy, *dx;
};

struct unary_kind {
    size_t size;                   /* of the backend's object */
    void (*release)(void *object); /* of what it holds; NULL: nothing */
    /* Whether the output is but another name for the input here. NULL: never. */
    bool (*is_alias)(const struct builder *b, const struct node *node);
    /* Before the step is finished: complete the object. x and y, then dy and dx, are set. NULL:
     * there is nothing to do. */
    bool (*prepare)(struct builder *b, const struct node *node, void *object, struct error *err);
    bool (*prepare_backward)(struct builder *b, const struct node *node, void *object,
                             struct error *err);
    step_function *run, *run_backward; /* y from x; dx from dy */
    bool keeps_input, keeps_output;    /* run_backward reads x; y */
    bool in_place;                     /* dx may lie over dy */
};

bool unary_layer_forward(struct builder *b, const struct node *node, const struct unary_kind *kind,
                         void **object, struct error *err);
bool unary_layer_backward(struct builder *b, const struct node *node, const struct unary_kind *kind,
                          void *object, struct error *err);
