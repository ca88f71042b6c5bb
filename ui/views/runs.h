/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/views/views.h"

/* How many runs the list of all runs has lines for on the screen. */
int runs_view_lines(const struct ui *ui);
