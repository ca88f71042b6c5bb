/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/chart/plot.h"

/* The curves themselves, on the plot's canvas, marks at their points and where
 * they leave it. */
void draw_curve(struct plot *plot, const struct chart_series *series, int layer);
void draw_points(const struct plot *plot, struct surface *surface,
                 const struct chart_series *series);
void draw_beyond(const struct plot *plot, struct surface *surface,
                 const struct chart_series *series);
