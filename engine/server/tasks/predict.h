/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/tasks/task.h"

/* The `predict` request: what saved weights take pictures in files for. */
task_work task_predict;
