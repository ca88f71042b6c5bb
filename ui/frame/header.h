/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_FRAME_HEADER_H
#define DPARTUI_UI_FRAME_HEADER_H

#include "ui/panels/panel.h"

/* The first line: the view, the running run, the engine. */
draw_part header_draw;

#endif
