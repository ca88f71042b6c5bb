/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_SERVER_TASKS_MODEL_H
#define DPARTUI_ENGINE_SERVER_TASKS_MODEL_H

#include "engine/server/tasks/task.h"

/* The `model` request: a network, and the memory it takes on each device. */
task_work task_model;

#endif
