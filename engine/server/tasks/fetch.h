/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_SERVER_TASKS_FETCH_H
#define DPARTUI_ENGINE_SERVER_TASKS_FETCH_H

#include "engine/server/tasks/task.h"

/* The `fetch` request. */
task_work task_fetch;

#endif
