/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/core/plan.h"

/*
 * Evaluation with BatchNorm folded into convolutions. With running statistics BatchNorm is a scale
 * and a shift per channel, so the convolution before it does both with other weights and
 * another bias (Jacob et al. 2018, arXiv:1712.05877, section 3.2), and also the ReLU and the
 * addition after it. Weights change between passes, so each pass recomputes the folded ones, layer
 * by layer, into memory that the layers share.
 */

/*
 * The graph of `replica` with BatchNorms folded; its parameters have their places. A convolution's
 * `residual` lies in memory that nobody reads any more, so that the sum may take its place. Release
 * with graph_free.
 */
bool fold_graph(const struct cpu_replica *replica, struct graph *out, struct error *err);

/*
 * What the forward pass of a convolution reads: its own parameters, or, where a BatchNorm was
 * folded into it, those that a step of its own makes of both. *bias: NULL where there is none.
 */
bool fold_parameters(struct builder *b, const struct node *node, struct buffer **weights,
                     struct buffer **bias, struct error *err);
