/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/tasks/task.h"

/* The `devices` request. */
task_work task_devices;
