/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_PANELS_RUNS_H
#define DPARTUI_UI_PANELS_RUNS_H

#include "ui/panels/panel.h"

/* The dashboard's list of runs, the newest first. */
draw_part panel_runs;

#endif
