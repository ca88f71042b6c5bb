/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/views/views.h"

/* The first line of the page when it is scrolled to its end. */
int confusion_view_last_line(const struct ui *ui);
/* How many columns of the matrix are in sight, of how many; false: all of them. */
bool confusion_view_columns(const struct ui *ui, int *seen, int *all);
