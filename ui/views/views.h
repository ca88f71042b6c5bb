/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/panels/panel.h"

/* What a view draws, below the screen's first line and above its last two; each reads `ui` only. */
struct view {
    draw_part *draw;
    /* The line under the view while there is no message: about what is in focus. May be NULL. */
    void (*hint)(const struct ui *ui, char *buffer, size_t size);
};

/* view_NAME of each view, a constant in the file of its name. */
#define VIEW_DRAWN(id, name, ...) extern const struct view view_##name;
VIEWS(VIEW_DRAWN)
#undef VIEW_DRAWN

/* The line that a page which scrolls to its line `last` begins with: the page may have been longer
 * when `ui->line` was set. */
int view_first_line(const struct ui *ui, int last);
/* The hint of such a page: how many lines are below it. */
void view_hint_lines(const struct ui *ui, int last, char *buffer, size_t size);

const struct view *view_of(enum view_id id);
