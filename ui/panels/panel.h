/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/draw/list.h"
#include "ui/draw/surface.h"
#include "ui/session/ui.h"

/*
 * What the parts of the screen share. A part draws into its rectangle, whatever its size, and reads
 * everything from `ui`; false only when memory ran out.
 */
typedef bool draw_part(const struct ui *ui, struct surface *surface, struct rect area,
                       struct error *err);

/* Whether `panel` has the keys, for its heading and its cursor. */
bool panel_focused(const struct ui *ui, enum panel panel);
/* A list's heading: its name in the first column, the titles of the others after it. */
void panel_heading(const struct ui *ui, struct surface *surface, struct rect area, enum panel panel,
                   const struct list_column *columns, const struct column_place *places, int count);
