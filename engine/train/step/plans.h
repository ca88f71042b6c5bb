/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/step/ranks.h"

/*
 * The plans of one device, on its thread. A run needs a few of them, by rows; `split auto` needs
 * others with every change of the shares, and may come back to shares that it had before. So the
 * last ones are kept, and the least recently used is dropped.
 */

/* Plans for the rows of all passes of the device. */
bool plans_get(struct rank *rank, struct error *err);
/* Those of a stage: for micro-batches, and for evaluation. */
bool plans_get_stage(struct rank *rank, struct error *err);
/* Count what the device needs: plans, slots of a stage, the replica, and `more` bytes. */
void plans_note_memory(struct rank *rank, uint64_t more);
/* Add what the plans have measured to the run's profile. Also by the owner, between tasks. */
bool plans_take_times(struct rank *rank, struct error *err);
void plans_release(struct rank *rank);
