/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "ui/state/state.h"

struct ui;

/* Which run keys are about. */

/* Marked runs are shown on the chart; the oldest mark is removed when there are UI_MARKS. */
enum { UI_MARKS = 8 };
bool ui_is_marked(const struct ui *ui, long run);
void ui_toggle_mark(struct ui *ui, long run);

/* The run in line `line` of the dashboard's list: newest first; NULL after the last. */
const struct state_run *ui_run_line(const struct ui *ui, int line);
/* The newest where none is selected: a view of one was opened by its name. */
void ui_select_any_run(struct ui *ui);
/*
 * The run that keys stop, pause or change: where runs are in focus the selected one unless it has
 * ended, else the running one; 0: none. In the views of runs it is never another than the selected
 * one.
 */
long ui_run_in_question(const struct ui *ui);
