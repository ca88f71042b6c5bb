/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_RUNS_BOARD_H
#define DPARTUI_RUNS_BOARD_H

#include <stdbool.h>

#include "runs/view.h"

/* Write a run into DIRECTORY/run-N for TensorBoard. */
bool run_board_write(const struct run_view *view, const char *directory, struct error *err);

#endif
