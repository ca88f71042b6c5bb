/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_VIEWS_VIEWS_H
#define DPARTUI_UI_VIEWS_VIEWS_H

#include "ui/panels/panel.h"

/* What a view draws, below the screen's first line and above its last two; each reads `ui` only. */
struct view {
    draw_part *draw;
    /* The line under the view while there is no message: about what is in focus. May be NULL. */
    void (*hint)(const struct ui *ui, char *buffer, size_t size);
};

const struct view *view_of(enum view_id id);

#endif
