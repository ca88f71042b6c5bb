/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_VIEWS_COMPARE_CHART_H
#define DPARTUI_UI_VIEWS_COMPARE_CHART_H

#include "ui/draw/surface.h"
#include "ui/session/ui.h"

/* The chart of ui->compare.metric over the number of devices. */
bool compare_chart_draw(const struct ui *ui, const struct comparison *comparison,
                        struct surface *surface, struct rect area, struct error *err);

#endif
