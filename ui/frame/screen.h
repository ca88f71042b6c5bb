/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_FRAME_SCREEN_H
#define DPARTUI_UI_FRAME_SCREEN_H

#include "ui/draw/surface.h"
#include "ui/session/ui.h"

/* Draw the whole workbench over the surface's size. Only reads `ui`. */
bool screen_draw(const struct ui *ui, struct surface *surface, struct error *err);

#endif
