/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/draw/surface.h"
#include "ui/session/ui.h"

/* Draw the whole workbench over the surface's size. Only reads `ui`. */
bool screen_draw(const struct ui *ui, struct surface *surface, struct error *err);
