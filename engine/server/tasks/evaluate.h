/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/tasks/task.h"

/* The `evaluate` request: saved weights on the test rows, and what is taken for what. */
task_work task_evaluate;
