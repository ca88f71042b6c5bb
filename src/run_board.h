/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_RUN_BOARD_H
#define DPARTUI_RUN_BOARD_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

/* Write a run (as `show` gives it) into DIRECTORY/run-N for TensorBoard. */
bool run_board_write(const json_t *run, const char *directory, struct error *err);

#endif
