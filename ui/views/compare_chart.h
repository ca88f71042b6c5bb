/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/draw/surface.h"
#include "ui/session/ui.h"

/* The chart of ui->compare.metric over the number of devices. */
bool compare_chart_draw(const struct ui *ui, const struct comparison *comparison,
                        struct surface *surface, struct rect area, struct error *err);
