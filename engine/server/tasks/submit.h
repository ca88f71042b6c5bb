/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_SERVER_TASKS_SUBMIT_H
#define DPARTUI_ENGINE_SERVER_TASKS_SUBMIT_H

#include "engine/server/tasks/task.h"

/* The requests `check` and `submit`. */
task_work task_check, task_submit;

#endif
