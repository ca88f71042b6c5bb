/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/draw/surface.h"
#include "ui/draw/theme.h"
#include "ui/session/ui.h"

/* Pictures of the screen as text files; those that end in ".ans" have the terminal's codes. */

/* Ask for the file's name; ui->want_picture holds it then. */
void picture_ask(struct ui *ui);
/* Write what was asked for, and say where it is or why it is not. */
void picture_write(struct ui *ui, const struct surface *surface, const struct theme *theme);
