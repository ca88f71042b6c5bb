/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/plan/builder.h"

/*
 * How the plan of a stage begins and ends: it reads the values that it is given where they lie, or
 * in a copy where the backend says so, and copies what it gives to where its neighbour reads it.
 */

/* Is this the plan of a stage, whose memory is another for each micro-batch? */
static inline bool stage_is_planned(const struct builder *b)
{
    return !b->graph->begins || !b->graph->ends || b->core->request.slots > 0;
}

/* The values that a stage reads of the one before it. */
bool stage_build_input(struct builder *b, struct error *err);
/* After the forward pass: a step that gives the stage's values. */
bool stage_build_output(struct builder *b, struct error *err);
/* Before the backward pass: their gradients. */
bool stage_take_gradient(struct builder *b, struct error *err);
/* After it: a step that gives those of what the stage read; zeros where none were computed. */
bool stage_give_gradient(struct builder *b, struct error *err);
