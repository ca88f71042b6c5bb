/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

/* What keys do while a value is typed or a question is open (ui/session/overlay.h). */

/* Is the action an answer to the open question? True without a question. */
bool overlay_can(const struct ui *ui, enum action action);
/* Do what an action means to the open prompt or question; false when there is none of it. */
bool overlay_act(struct ui *ui, enum action action);
/* A key that is no action: text for the prompt. */
void overlay_key(struct ui *ui, int key);
/* Text for the prompt; line breaks and tabs become blanks. */
void overlay_paste(struct ui *ui, const char *text);
