/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/views/views.h"

/* What the mouse finds in the titles of columns: instead of a line this, and enum run_column. */
enum { RUNS_VIEW_TITLES = 0xff00 };

/* How many runs the list of all runs has lines for on the screen. */
int runs_view_lines(const struct ui *ui);
/* Which columns that list has, RUN_COLUMNS of them, on a screen of `width` columns. */
void runs_view_columns(const struct ui *ui, int width, bool *shown);
