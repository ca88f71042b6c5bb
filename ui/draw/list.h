/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/draw/surface.h"

/* The columns of a list and how they share the width that there is. */
struct list_column {
    const char *title; /* NULL: the column is left out */
    int width, most;   /* least width; how far it may grow when there is room (0: not at all) */
    bool right;        /* aligned to the right */
    int drop;          /* 0: always shown; otherwise the highest goes first when room is short */
};

struct column_place {
    int x, w; /* w 0: not shown */
};

/* Two blanks between columns when there is room, else one. */
void columns_place(const struct list_column *columns, int count, int width,
                   struct column_place *places);

/* One cell of a list. */
void list_cell(struct surface *surface, struct rect area, int y, const struct list_column *column,
               const struct column_place *place, enum style style, const char *text);
/* The first line to show so that `line` of `count` is among the `visible` ones. */
int list_scroll(int line, int count, int visible);
