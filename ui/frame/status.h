/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/panels/panel.h"

/* The line for a question, a value being typed, an answer or a hint. */
draw_part status_draw;
/*
 * How many rows of that width it wants: more than one for a question, an answer or an advice that
 * does not fit, because what to do about it stands at its end.
 */
enum { STATUS_MOST_ROWS = 6 };
int status_rows(const struct ui *ui, int width);
