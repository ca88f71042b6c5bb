/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CPU_LAYERS_INPUT_H
#define DPARTUI_ENGINE_DEVICE_CPU_LAYERS_INPUT_H

#include "engine/data/augment.h"
#include "engine/device/device.h"

/* What the first and last steps of a plan do with a row, for whoever does it in another way. */

/* A pixel of channel c becomes pixel * scale[c] + shift[c]; numbers are taken as they are. */
void input_scaling(const struct net *net, float *scale, float *shift);
/* Whether the batch's rows are there, and have as many numbers as the network reads. */
bool input_check(const struct batch *batch, const struct net *net, struct error *err);
/* What is to be done to the picture of row `row` of the data. */
struct augment_change input_change(const struct batch *batch, uint32_t row);

/* Whether every label of the batch's rows is one of the network's classes. */
bool loss_check_labels(const struct batch *batch, const struct net *net, struct error *err);
/* The row's loss: log(sum(exp(x - max))) - (x[label] - max), in double precision. The gradient
 * (softmax - onehot) * scale goes to `gradient` unless that is NULL. */
double loss_of_row(const float *x, int classes, int label, double scale, float *gradient);
/* The class of the largest logit; ties go to the lower index. */
int loss_guess(const float *x, int classes);

#endif
