/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/draw/surface.h"
#include "ui/session/ui.h"

/* Rows that the table of a comparison needs to show everything. */
int compare_table_rows(const struct comparison *comparison);
void compare_table_draw(const struct ui *ui, const struct comparison *comparison,
                        struct surface *surface, struct rect area);
