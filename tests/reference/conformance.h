/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/net/slice.h"
#include "tests/reference/trial.h"

/*
 * What every backend must do, as cases that run on any device and compare it with the reference in
 * double precision. A case that does not hold fails the running check.
 */

/* Every operation, in small networks 0..conformance_nets-1: forward and backward. */
extern const int conformance_nets;
void conformance_net_make(struct trial *trial, int net, int rows);
void conform_net(const struct trial_device *device, int net, int rows);
/* Every operation that there is occurs in these networks. */
void conform_covers_operations(void);
/* Gradients against finite differences of the reference's loss, which know nothing of any backward
 * pass. */
void conform_slopes(const struct trial_device *device, int net);
/* The same of gradients of the trial's rows, in canonical order, whoever computed them. */
void conform_slopes_of(const struct trial *trial, const float *grads, const char *what);
/* The loss against smoothed labels in training, against the labels in evaluation. */
void conform_smoothing(const struct trial_device *device, int net);
/* An evaluation that also gives the class of each row, where asked to: that of the largest logit,
 * of equal ones the first, and the first where no logit is a number. */
void conform_predictions(const struct trial_device *device, int net);

/* Shipped models 0..conformance_models-1, the deep one on small pictures. */
extern const int conformance_models;
void conformance_model_make(struct trial *trial, int model);
void conform_model(const struct trial_device *device, int model);

/*
 * Devices in their own threads, devices[0] and devices[1] in turn, with shards that add up to
 * the reference's batch: with synchronised BatchNorm, and without any BatchNorm.
 */
extern const int conformance_splits;
void conform_synchronised(const struct trial_device *devices, int split);
void conform_shards(const struct trial_device *devices, int split);

/*
 * Types whose numbers are rounded coarsely, to a part of `unit` (2^-8: bf16, 2^-11: TF32). How much
 * that may change depends on the network: on ReLUs near their corners and on BatchNorms over few
 * numbers. So the reference itself is computed with weights changed at random by up to `unit`, some
 * times over; the device may be off by some times as much as these, array by array. Both modes.
 */
void conform_rough(const struct trial_device *device, const struct trial *trial, double unit,
                   const char *what);

/*
 * Networks in stages, one device each, whose mini-batch comes in micro-batches: small ones, and
 * models of the source tree. Backends with plan_forward.
 */
void conform_stages(const struct trial_device *device, int net);
/* Their gradients, through the cuts, against finite differences; nothing for one with BatchNorm,
 * whose loss depends on the micro-batches. */
void conform_stage_slopes(const struct trial_device *device, int net);
void conform_model_stages(const struct trial_device *device, const char *model,
                          struct net_shape input);
void conform_evaluation_stages(const struct trial_device *device, const char *model,
                               struct net_shape input);

/*
 * Networks in slices, one device each, beside the reference's whole network, in both modes. False:
 * this network cannot be divided into so many; in training also where rows are divided before a
 * BatchNorm, which then has other statistics. Models in 2 to `most`. Backends with `slices`.
 */
bool conform_slices(const struct trial_device *device, enum net_division division, int net,
                    int count);
/* Their gradients, through gathers, against finite differences. */
bool conform_slice_slopes(const struct trial_device *device, enum net_division division, int net,
                          int count);
void conform_model_slices(const struct trial_device *device, enum net_division division,
                          const char *model, struct net_shape input, int most, double tolerance);

void conform_no_rows(const struct trial_device *device);
/* Plans share a workspace that grows under them; a pass is deterministic. */
void conform_side_by_side(const struct trial_device *device);
/* Weights come back as they went in, and the surplus in the arenas stays zero through updates. */
void conform_arenas(const struct trial_device *device);
/* The updates are those of torch.optim, of the numbers asked for alone. */
void conform_update(const struct trial_device *device);
void conform_no_decay(const struct trial_device *device);
void conform_average(const struct trial_device *device);
void conform_mistakes(const struct trial_device *device);
