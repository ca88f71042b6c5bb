/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/core/plan.h"

/*
 * Gradients of weights that a stage computes once for all micro-batches, in plan_finish. Where
 * there are many weights and few rows, most of the time goes into transforming, reading and adding
 * up weights, and it is the same for any number of rows; what the gradients are made of is small
 * there, and is kept.
 */

struct fused_norm;

/* One of the two factors: a value, or its gradient. */
struct deferred_value {
    const struct value *value;
    const struct buffer *from;     /* of a micro-batch */
    struct buffer *to;             /* of all; NULL: nothing is deferred */
    const struct fused_norm *norm; /* `from` is what it works on, `to` its result; NULL: none */
};

/* Whether it pays for `weights` numbers, by rows of so many values and gradients. */
bool deferred_pays(const struct builder *b, size_t weights, size_t row);
/* Part of the step being built: each micro-batch's `from` is kept. */
bool deferred_make(struct builder *b, int value, struct buffer *from, const struct fused_norm *norm,
                   struct deferred_value *out, struct error *err);
/* In that step. */
void deferred_keep(const struct plan *plan, const struct deferred_value *value);
