/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/draw/surface.h"
#include "ui/session/ui.h"

/* What the sweep that is asked about would train. */
int compare_plan_rows(const struct ui *ui);
void compare_plan_draw(const struct ui *ui, struct surface *surface, struct rect area);
