/* SPDX-License-Identifier: MIT */
#pragma once

#include "runs/view.h"

/*
 * A run's epochs as a table on standard output, as src/output/table.h has it, after an empty line;
 * nothing of a run without epochs. They are read twice, first for the widths of the columns, so
 * that memory does not grow with their number.
 */
bool epoch_table_print(const struct run_view *view, struct error *err);
