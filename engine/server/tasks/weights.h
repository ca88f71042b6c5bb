/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_SERVER_TASKS_WEIGHTS_H
#define DPARTUI_ENGINE_SERVER_TASKS_WEIGHTS_H

#include "engine/server/tasks/task.h"

/* The `weights` request: what saved weights say of themselves. */
task_work task_weights;

#endif
