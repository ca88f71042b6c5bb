/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/tasks/task.h"

/* The `model` request: a network, and the memory it takes on each device. */
task_work task_model;
