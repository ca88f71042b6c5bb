/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/step/ranks.h"
#include "engine/train/step/strategy.h"

/*
 * A run whose ranks are the slices of a network (engine/net/slice.h): every rank computes all rows,
 * of each layer the output channels that it has the parameters of. With strategy mixed it does that
 * from the first linear layer on; before it a rank has all parameters, and rows of its own.
 */
struct tensor;

/* For ranks that were started, before their first task; the spec is resolved. Sets ranks->tensor
 * and what each rank has of it. */
bool tensor_create(struct ranks *ranks, struct error *err);
void tensor_destroy(struct tensor *tensor);

/* Each rank trains a slice. */
extern const struct strategy_tasks strategy_tensor;
