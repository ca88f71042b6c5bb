/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_SCREEN_H
#define DPARTUI_UI_SCREEN_H

#include "ui/surface.h"
#include "ui/ui.h"

/* Draw the whole workbench over the surface's size. Only reads `ui`. */
bool screen_draw(const struct ui *ui, struct surface *surface, struct error *err);

#endif
