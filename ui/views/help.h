/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/views/views.h"

/* How many lines the help has on a screen of that width. */
int help_view_lines(const struct ui *ui, int columns);
