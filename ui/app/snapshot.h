/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/text.h"
#include "ui/session/ui.h"

/* The workbench's screen as text, without a terminal. */

struct snapshot_options {
    int rows, columns;
    enum view_id view;
    const char *keys;   /* pressed before: characters, and names in angle brackets, "<Tab>" */
    const char *replay; /* a recorded session; NULL: the engine that runs now */
    double until;       /* second of that session; INFINITY: its end */
    bool utf8;
    bool ansi;   /* with the terminal's codes for the looks of text ... */
    int colours; /* 256, 16, 8, or 0 for mono */
};

enum { SNAPSHOT_MOST_ROWS = 500, SNAPSHOT_MOST_COLUMNS = 1000 };

/*
 * Draw what a workbench that starts with `ui` would show. It only looks: nothing is asked of the
 * engine that would change anything, and none is started. An engine that is not there is a screen
 * that says so.
 */
bool snapshot_draw(struct ui *ui, const struct snapshot_options *options, struct text *out,
                   struct error *err);

/* Press keys; ERROR_USAGE for a name that is none. */
bool snapshot_keys(struct ui *ui, const char *keys, struct error *err);
