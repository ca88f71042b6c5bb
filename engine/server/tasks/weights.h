/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/tasks/task.h"

/* The `weights` request: what saved weights say of themselves. */
task_work task_weights;

/* The file that params of `weights` name, {"file":PATH} or {"run":12,"best":false}; a new string.
 * NULL: *err. */
char *weights_path(const json_t *params, struct error *err);
