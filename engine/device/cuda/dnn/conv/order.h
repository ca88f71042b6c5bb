/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/dnn/conv/request.h"
#include "engine/device/cuda/dnn/engine.h"

/* Candidates kept of what heuristics offer: two lists of about forty. */
#define CONV_OFFERED 96
/* At most this many are timed. */
#define CONV_TIMED 48
/* At most this many of each engine that has to be compiled, which takes 0.5 s to some seconds. */
#define CONV_COMPILED_PER_ENGINE 4
/* A compiled candidate after this many ready ones is not compiled: heuristics put compiled engines
 * first where these are better. */
#define CONV_READY_BEFORE 8

/*
 * Candidates that heuristics leave out: for the sums after a convolution, more kernels of engine
 * 2, the only one of that pattern that uses Hopper's own tensor core instructions (cuDNN 9.19).
 * Added after the last of `count` candidates, at most up to `capacity`, no choice twice; returns
 * the new count.
 */
int conv_order_extend(enum conv_pattern pattern, struct dnn_candidate *candidates, int count,
                      int capacity);

/*
 * Put candidates, best first as heuristics see it, into the order in which they are timed: two of
 * each engine, then up to five of each, then the rest. Leaves out what the limits above say;
 * returns how many are left. `count` is at most CONV_OFFERED.
 */
int conv_order(struct dnn_candidate *candidates, int count);
