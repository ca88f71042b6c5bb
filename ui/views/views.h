/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_VIEWS_VIEWS_H
#define DPARTUI_UI_VIEWS_VIEWS_H

#include "ui/draw/layout.h"
#include "ui/panels/panels.h"

/*
 * What fills the screen between its first line and its last two: one file a view behind this table
 * of functions. Each draws what `ui` holds and handles the actions that are its own; everything
 * that works in all of them is ui/control/control.c's.
 */
struct view {
    const char *name;  /* as `dpartui screen --view` and the command palette call it */
    const char *title; /* in the screen's first line; NULL: none */
    unsigned contexts; /* where keys go; 0: the dashboard's panel in focus tells */
    draw_part *draw;
    /* Does an action of this view make sense now? NULL: all that its contexts name do. */
    bool (*can)(const struct ui *ui, enum action action);
    /* Do it; false when it is none of this view's. */
    bool (*act)(struct ui *ui, enum action action);
    /* Put the cursor into a line of those that its drawing has marked (surface_mark_line). NULL: it
     * is ui->line. */
    void (*pick)(struct ui *ui, int line);
    /* The line under the view while there is no message: about what is in focus. May be NULL. */
    void (*hint)(const struct ui *ui, char *buffer, size_t size);
    /* It comes to the screen: ask the engine for what it needs. May be NULL. */
    void (*opened)(struct ui *ui);
    /* It leaves the screen. May be NULL. */
    void (*left)(struct ui *ui);
};

extern const struct view view_dashboard, view_runs, view_run, view_compare, view_log, view_settings,
    view_device, view_help;

const struct view *view_of(enum view_id id);

/* How many runs the list of all runs has lines for on the screen. */
int runs_view_lines(const struct ui *ui);
/* The first line of the details of a run when they are scrolled to their end. */
int run_view_last_line(const struct ui *ui);

/* How the dashboard's parts lie on a screen of this size now. */
struct layout dashboard_layout(const struct ui *ui, int rows, int columns);

#endif
