/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/step/ranks.h"

/*
 * One device alone: measure the noise of the gradients (profile/noise.h) by two passes over halves
 * of the step's mini-batch, into rank->noise; of an odd one the last row is left out. What training
 * reads stays as it is. On the rank's thread, before its step, with nothing queued.
 */
bool rank_measure_halves(struct rank *rank, struct error *err);
