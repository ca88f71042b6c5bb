/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_DRAW_COLUMNS_H
#define DPARTUI_UI_DRAW_COLUMNS_H

#include <stdbool.h>

/* The columns of a list and how they share the width that there is. */
struct list_column {
    const char *title;
    int width, most; /* least width; how far it may grow when there is room (0: not at all) */
    bool right;      /* aligned to the right */
    int drop;        /* 0: always shown; otherwise the highest goes first when room is short */
};

struct column_place {
    int x, w; /* w 0: not shown */
};

/* Two blanks between columns when there is room, else one. */
void columns_place(const struct list_column *columns, int count, int width,
                   struct column_place *places);

#endif
