/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_CONTROL_PALETTE_H
#define DPARTUI_UI_CONTROL_PALETTE_H

#include "ui/panels/panels.h"

/*
 * The command palette: a prompt for the name of an action, with a list of those that can be done in
 * the view below it.
 */
void palette_open(struct ui *ui);
/* Up and down in the list. */
void palette_act(struct ui *ui, enum action action);
/* The entry in a line of the list. */
void palette_pick(struct ui *ui, int line);
/* The list, at the lower edge of the view; nothing while the palette is closed. */
draw_part palette_draw;

#endif
