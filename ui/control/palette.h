/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

/*
 * The command palette: a prompt for the name of an action, with a list of those that can be done in
 * the view below it.
 */
void palette_open(struct ui *ui);
/* Up and down in the list. */
void palette_act(struct ui *ui, enum action action);
/* The entry in a line of the list. */
void palette_pick(struct ui *ui, int line);
/* What was found, as places in the table of actions, the best first; returns how many. */
int palette_find(const struct ui *ui, size_t found[ACTION_ENTRIES]);
