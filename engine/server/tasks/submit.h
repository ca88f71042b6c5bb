/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/tasks/task.h"

/* The requests `check` and `submit`. */
task_work task_check, task_submit;
