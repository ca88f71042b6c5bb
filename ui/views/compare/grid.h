/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/draw/surface.h"
#include "ui/session/grid.h"
#include "ui/session/ui.h"

/* The runs of a study of settings: a line for each combination of values, what they mean, and
 * ui->compare.grid_metric over the values. */
bool compare_grid_draw(const struct ui *ui, const struct grid *grid, struct surface *surface,
                       struct rect area, struct error *err);
void compare_grid_hint(const struct ui *ui, const struct grid *grid, char *buffer, size_t size);
