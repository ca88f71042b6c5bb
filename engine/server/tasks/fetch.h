/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/tasks/task.h"

/* The `fetch` request. */
task_work task_fetch;
