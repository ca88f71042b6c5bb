/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_TRAIN_RUN_COMMAND_H
#define DPARTUI_ENGINE_TRAIN_RUN_COMMAND_H

#include "engine/train/run/state.h"

/*
 * Have every rank run a task and wait for it, showing progress, obeying stop requests and giving up
 * on devices that hang. `work_flops` is the work of the busiest device. After a failure no further
 * task can be run.
 */
bool run_command(struct run *run, worker_task task, double work_flops, struct error *err);

#endif
