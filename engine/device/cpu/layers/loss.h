/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CPU_LAYERS_LOSS_H
#define DPARTUI_ENGINE_DEVICE_CPU_LAYERS_LOSS_H

#include "engine/device/plan/builder.h"

/* The row's loss: log(sum(exp(x - max))) - (x[label] - max), in double precision. The gradient
 * (softmax - onehot) * scale goes to `gradient` unless that is NULL. */
double loss_of_row(const float *x, int classes, int label, double scale, float *gradient);
/* The class of the largest logit; ties go to the lower index. */
int loss_guess(const float *x, int classes);

/* The step after all layers: losses, rows right and, for training, the gradient of the logits. */
bool build_loss(struct builder *b, struct error *err);

#endif
