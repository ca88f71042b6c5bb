/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

/* What the keys of a view do; those that work in all views are in ui/control/control.c. */
struct view_actions {
    /* Does an action of this view make sense now? NULL: all that its contexts name do. */
    bool (*can)(const struct ui *ui, enum action action);
    /* Do it; false when it is none of this view's. */
    bool (*act)(struct ui *ui, enum action action);
    /* Put the cursor into a line of those that its drawing has marked (surface_mark_line). NULL: it
     * is ui->line. */
    void (*pick)(struct ui *ui, int line);
    /* It comes to the screen: ask the engine for what it needs. May be NULL. */
    void (*opened)(struct ui *ui);
    /* It leaves the screen. May be NULL. */
    void (*left)(struct ui *ui);
};
const struct view_actions *view_actions(enum view_id view);

void ui_show_view(struct ui *ui, enum view_id view);
/* To where the view was opened from. */
void ui_go_back(struct ui *ui);
