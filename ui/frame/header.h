/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/panels/panel.h"

/* The first line: the view, the running run, the engine. */
draw_part header_draw;
