/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/run/state.h"

/*
 * Have every rank run a task and wait for it, showing progress, obeying stop requests and giving up
 * on devices that hang. `work_flops` is the work of the busiest device. After a failure no further
 * task can be run.
 */
bool run_task(struct run *run, worker_task task, double work_flops, struct error *err);
/* Likewise on all hosts, of which each then knows what the others' ranks have done. */
bool run_command(struct run *run, worker_task task, double work_flops, struct error *err);

/* Where the run keeps an average of its weights: they change places, for tasks that evaluate or
 * save the weights, and once more afterwards. */
bool run_swap_average(struct run *run, struct error *err);
