/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/core/plan.h"

/*
 * Gradients of weights that a stage computes once for several micro-batches, in plan_finish. Where
 * there are many weights and few rows, most of the time goes into transforming, reading and adding
 * up weights, and it is the same for any number of rows; what the gradients are made of is small
 * there, and is kept.
 */

struct fused_norm;

/* One of the two factors: a value, or its gradient. */
struct deferred_value {
    const struct value *value;
    const struct buffer *from;     /* of a micro-batch */
    struct buffer *to;             /* of finish_rows; NULL: nothing is deferred */
    const struct fused_norm *norm; /* `from` is what it works on, `to` its result; NULL: none */
};

/* Both of a layer: its input, and the gradient of its output. */
struct deferred {
    struct deferred_value x, dy;
};

/* Whether it pays for `weights` numbers, by rows of so many values and gradients. */
bool deferred_pays(const struct builder *b, size_t weights, size_t row);
/* The step that keeps x, or what `norm`, unless it is NULL, makes of it, and dy of each
 * micro-batch. `out` stays where it is as long as the plan. */
bool deferred_build(struct builder *b, const struct node *node, struct buffer *x,
                    const struct fused_norm *norm, struct buffer *dy, struct deferred *out,
                    struct error *err);
/* In plan_finish, which computes finish_rows: rows that no pass has left add nothing. */
void deferred_clear_rest(const struct plan *plan, const struct deferred *kept);
