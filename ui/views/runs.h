/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_VIEWS_RUNS_H
#define DPARTUI_UI_VIEWS_RUNS_H

#include "ui/views/views.h"

/* How many runs the list of all runs has lines for on the screen. */
int runs_view_lines(const struct ui *ui);

#endif
