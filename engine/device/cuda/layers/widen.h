/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/plan/builder.h"

/*
 * Gradients of filters that the library writes in bf16, on their way into the arena, which is f32:
 * devices add theirs up there. A launch for each would take longer than its work, so they wait
 * until a gradient bucket has to be complete, or the pass ends, and then go in one.
 */
struct widening;

/*
 * The buffer for `count` numbers (a multiple of 8) that the step being built, the weights' gradient
 * of the convolution `node`, leaves in bf16, and that belong at `to`. Unless *out is NULL, that
 * step has to run it after the library's call. NULL with *err filled when memory ran out.
 */
struct buffer *widening_add(struct builder *b, const struct node *node, float *to, size_t count,
                            struct widening **out, struct error *err);
bool widening_run(struct plan *plan, const struct widening *w, struct error *err);
