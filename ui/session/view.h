/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/keys/actions.h"

/*
 * What fills the screen between its first line and its last two: X(id, name, title in the first
 * line, contexts of its keys, the action that opens it). What `name` draws is view_NAME in
 * ui/views. The dashboard's contexts are those of its panel in focus. The details of a run and of
 * a device are opened from where it is selected.
 */
#define VIEWS(X)                                                                                   \
    X(VIEW_DASHBOARD, dashboard, NULL, 0, ACTION_VIEW_DASHBOARD)                                   \
    X(VIEW_RUNS, runs, "Runs", CONTEXT_RUN_LIST, ACTION_VIEW_RUNS)                                 \
    X(VIEW_RUN, run, "Run", CONTEXT_RUN, ACTION_NONE)                                              \
    X(VIEW_CONFUSION, confusion, "Confusion", CONTEXT_CONFUSION, ACTION_CONFUSION)                 \
    X(VIEW_DIFFERENCES, differences, "Differences", CONTEXT_DIFFERENCES, ACTION_DIFFERENCES)       \
    X(VIEW_COMPARE, compare, "Compare", CONTEXT_COMPARE, ACTION_VIEW_COMPARE)                      \
    X(VIEW_LOG, log, "Log", CONTEXT_LOG, ACTION_VIEW_LOG)                                          \
    X(VIEW_SETTINGS, settings, "Settings", CONTEXT_SETTINGS, ACTION_VIEW_SETTINGS)                 \
    X(VIEW_HOSTS, hosts, "Hosts", CONTEXT_HOSTS, ACTION_VIEW_HOSTS)                                \
    X(VIEW_COLUMNS, columns, "Columns", CONTEXT_COLUMNS, ACTION_VIEW_COLUMNS)                      \
    X(VIEW_DEVICE, device, "Device", CONTEXT_DEVICE, ACTION_NONE)                                  \
    X(VIEW_HELP, help, "Help", CONTEXT_HELP, ACTION_HELP)

#define VIEW_ID(id, ...) id,
enum view_id { VIEWS(VIEW_ID) VIEW_COUNT };
#undef VIEW_ID

struct ui;

/* As `dpartui screen --view` and the command palette call it. */
const char *view_name(enum view_id id);
/* The view of that name; VIEW_COUNT: there is none. */
enum view_id view_of_name(const char *name);
/* The view that an action opens; VIEW_COUNT: none. */
enum view_id view_of_action(enum action action);
/* In the screen's first line; NULL: none. */
const char *view_title(enum view_id id);

/* Where keys go now: bits of enum context. */
unsigned ui_contexts(const struct ui *ui);
/* And where they would go in another view, or without prompt and question. */
unsigned ui_view_contexts(const struct ui *ui, enum view_id view);
