/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/panels/panel.h"

/* The list of the command palette, at the lower edge of the view; nothing while it is closed. */
draw_part palette_draw;
