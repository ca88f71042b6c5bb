/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_VIEWS_HELP_H
#define DPARTUI_UI_VIEWS_HELP_H

#include "ui/views/views.h"

/* How many lines the help has on a screen of that width. */
int help_view_lines(const struct ui *ui, int columns);

#endif
