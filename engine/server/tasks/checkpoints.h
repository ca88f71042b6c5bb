/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/tasks/task.h"

/* The `checkpoints` request: how many some runs have, and their bytes. */
task_work task_checkpoints;
