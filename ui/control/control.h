/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

/* What keys do: those that work in every view, and where all others go. */

/* A key of ui/draw/key.h. */
void ui_key(struct ui *ui, int key);
/* Pasted text: what is typed into a prompt, and nothing without one. */
void ui_paste(struct ui *ui, const char *text);

/* Whether an action makes sense now; the key bar shows only those. */
bool ui_can(const struct ui *ui, enum action action);
/* The same of the view below a prompt or question. */
bool ui_can_below(const struct ui *ui, enum action action);
void ui_act(struct ui *ui, enum action action);
