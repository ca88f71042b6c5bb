/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/draw/surface.h"
#include "ui/session/grid.h"
#include "ui/session/ui.h"

/* The metric over the values of the last setting, a curve for each value of the first. */
bool compare_grid_chart_draw(const struct ui *ui, const struct grid *grid, struct surface *surface,
                             struct rect area, struct error *err);
