/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_SESSION_VIEW_H
#define DPARTUI_UI_SESSION_VIEW_H

/* What fills the screen between its first line and its last two. */
enum view_id {
    VIEW_DASHBOARD,
    VIEW_RUNS,
    VIEW_RUN, /* the details of the selected run */
    VIEW_COMPARE,
    VIEW_LOG,
    VIEW_SETTINGS,
    VIEW_DEVICE, /* the figures of the device in focus */
    VIEW_HELP,
    VIEW_COUNT
};

struct ui;

/* As `dpartui screen --view` and the command palette call it. */
const char *view_name(enum view_id id);
/* The view of that name; VIEW_COUNT: there is none. */
enum view_id view_of_name(const char *name);
/* In the screen's first line; NULL: none. */
const char *view_title(enum view_id id);

/* Where keys go now: bits of enum context. */
unsigned ui_contexts(const struct ui *ui);
/* And where they would go in another view, or without prompt and question. */
unsigned ui_view_contexts(const struct ui *ui, enum view_id view);

#endif
