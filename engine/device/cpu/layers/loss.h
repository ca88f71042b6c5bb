/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/plan/builder.h"

/* The row's cross-entropy, in double precision: log(sum(exp(x - max))) + max - sum(target * x). The
 * target is 1 - smoothing for the label, and smoothing / classes more for each class. The gradient
 * (softmax - target) * scale goes to `gradient` unless that is NULL. */
double loss_of_row(const float *x, int classes, int label, double smoothing, double scale,
                   float *gradient);
/* The class of the largest logit; ties go to the lower index. */
int loss_guess(const float *x, int classes);

/* The step after all layers: losses, rows right and, for training, the gradient of the logits. */
bool build_loss(struct builder *b, struct error *err);
