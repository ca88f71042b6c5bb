/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_VIEWS_COMPARE_PARTS_H
#define DPARTUI_UI_VIEWS_COMPARE_PARTS_H

#include "ui/draw/surface.h"
#include "ui/session/comparison.h"

/* The parts of the compare view (ui/views/compare.c). */

/* Rows that the table needs to show everything. */
int compare_table_rows(const struct comparison *comparison);
void compare_table_draw(const struct ui *ui, const struct comparison *comparison,
                        struct surface *surface, struct rect area);

/* The chart of ui->compare.metric over the number of devices. */
bool compare_chart_draw(const struct ui *ui, const struct comparison *comparison,
                        struct surface *surface, struct rect area, struct error *err);

/* What the sweep that is asked about would train. */
int compare_plan_rows(const struct ui *ui);
void compare_plan_draw(const struct ui *ui, struct surface *surface, struct rect area);

#endif
