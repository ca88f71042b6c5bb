/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/figure.h"
#include "ui/draw/surface.h"
#include "ui/session/ui.h"

/* A speed that was measured with the warm-up gets a '*'. Returns its text. */
const char *compare_mark(struct figure *figure, const struct outcome *outcome);

/* Rows that the table of a comparison needs to show everything. */
int compare_table_rows(const struct comparison *comparison);
void compare_table_draw(const struct ui *ui, const struct comparison *comparison,
                        struct surface *surface, struct rect area);
