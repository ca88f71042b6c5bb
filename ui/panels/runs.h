/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/panels/panel.h"

/* The dashboard's list of runs, the newest first. */
draw_part panel_runs;
