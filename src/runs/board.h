/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "runs/view.h"

/* Write a run into DIRECTORY/run-N for TensorBoard. */
bool run_board_write(const struct run_view *view, const char *directory, struct error *err);
