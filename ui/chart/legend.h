/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/chart/plot.h"

/* The end label: "12", "12 train" or what the series is called. */
struct series_name {
    char text[32];
};
const char *series_name(const struct chart_series *series, struct series_name *name);

/* The columns that the first curve's name and value take; 0: none has a name. */
int legend_least(const struct chart *chart, const struct surface *surface);
/* Names and values in the first row, and at the curves' ends. */
void draw_legend(const struct chart *chart, struct surface *surface, int y, int x, int end);
void draw_end_labels(const struct plot *plot, struct surface *surface, const struct chart *chart);
