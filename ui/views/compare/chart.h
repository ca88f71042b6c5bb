/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/draw/surface.h"
#include "ui/session/ui.h"

/* What a chart has to know of a metric. */
struct compare_look {
    const char *title;
    double top;
    int decimals;
};
const struct compare_look *compare_look(enum compare_metric metric);
double compare_value(const struct outcome *outcome, enum compare_metric metric);
/* Where it lies over the seeds, or of speeds over the epochs; NULL: it is one number. */
const struct spread *compare_band(const struct outcome *outcome, enum compare_metric metric);

/* The chart of ui->compare.metric over the number of devices. */
bool compare_chart_draw(const struct ui *ui, const struct comparison *comparison,
                        struct surface *surface, struct rect area, struct error *err);
