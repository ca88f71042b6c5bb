/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_VIEWS_VIEWS_H
#define DPARTUI_UI_VIEWS_VIEWS_H

#include "ui/columns.h"
#include "ui/surface.h"
#include "ui/ui.h"

/*
 * The parts of the screen, one file each. A view draws into its rectangle, whatever its size, and
 * reads everything from `ui`; false only when memory ran out.
 */
typedef bool view_draw(const struct ui *ui, struct surface *surface, struct rect area,
                       struct error *err);

view_draw view_header, view_devices, view_chart, view_form, view_runs, view_status, view_keys,
    view_help;

/* Whether `panel` has the keys, for its heading and its cursor. */
bool view_focused(const struct ui *ui, enum panel panel);
/* A list's heading: the panel's name in the first column, the columns' titles behind it. */
void view_heading(const struct ui *ui, struct surface *surface, struct rect area, enum panel panel,
                  const struct list_column *columns, const struct column_place *places, int count);
/* One cell of a list. */
void view_cell(struct surface *surface, struct rect area, int y, const struct list_column *column,
               const struct column_place *place, enum style style, const char *text);
/* The first line to show so that `line` of `count` is among the `visible` ones. */
int view_scroll(int line, int count, int visible);

#endif
