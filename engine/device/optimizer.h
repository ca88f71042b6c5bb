/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_OPTIMIZER_H
#define DPARTUI_ENGINE_DEVICE_OPTIMIZER_H

#include "spec/spec.h"

/*
 * The optimizer, apart from its arithmetic: that is each backend's `update` (device.h). Besides a
 * parameter and its gradient it reads and writes some numbers of its own, the state, which begin at
 * zero. Replicas and checkpoints have an array of each.
 */
#define OPTIMIZER_STATES 1

/* What an update is made with. PyTorch's SGD: g += wd*w; v = m*v + g; w -= lr*v, where v, its
 * state, is neither read nor written without momentum. */
struct optimizer_step {
    float lr, momentum, weight_decay;
};

static inline struct optimizer_step optimizer_step(const struct spec *spec, double lr)
{
    return (struct optimizer_step){(float)lr, (float)spec->momentum, (float)spec->weight_decay};
}

/* How many of the arrays a run uses, and its checkpoints hold. */
static inline int optimizer_states(const struct spec *spec)
{
    return spec->momentum > 0 ? 1 : 0;
}

/* What PyTorch calls them: the entries of checkpoints are "PARAMETER.momentum_buffer". */
static const char *const optimizer_state_names[OPTIMIZER_STATES] = {"momentum_buffer"};

#endif
