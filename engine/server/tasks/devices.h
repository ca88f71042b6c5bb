/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_SERVER_TASKS_DEVICES_H
#define DPARTUI_ENGINE_SERVER_TASKS_DEVICES_H

#include "engine/server/tasks/task.h"

/* The `devices` request. */
task_work task_devices;

#endif
