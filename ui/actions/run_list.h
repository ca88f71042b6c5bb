/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

/* What keys do in the list of all runs. */

/* After anything changed: sort it again, and keep a run of the list in focus. */
void run_list_refresh(struct ui *ui);
bool run_list_can(const struct ui *ui, enum action action);
/* False when the action is none of these. */
bool run_list_act(struct ui *ui, enum action action);
void run_list_pick(struct ui *ui, int line);
/* A click on the title of a column: sort by it, or the other way around. */
void run_list_pick_title(struct ui *ui, enum run_column column);
