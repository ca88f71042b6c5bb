/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_FRAME_PALETTE_H
#define DPARTUI_UI_FRAME_PALETTE_H

#include "ui/panels/panel.h"

/* The list of the command palette, at the lower edge of the view; nothing while it is closed. */
draw_part palette_draw;

#endif
