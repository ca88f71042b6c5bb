/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_CONTROL_OVERLAY_H
#define DPARTUI_UI_CONTROL_OVERLAY_H

#include "ui/control/ui.h"

/* What lies on top of a view: a value being typed or a question (part of ui/control/ui.h). */

/* Is the action an answer to the open question? True without a question. */
bool overlay_can(const struct ui *ui, enum action action);
/* Do what an action means to the open prompt or question; false when there is none of it. */
bool overlay_act(struct ui *ui, enum action action);
/* A key that is no action: text for the prompt. */
void overlay_key(struct ui *ui, int key);
/* Text for the prompt; line breaks and tabs become blanks. */
void overlay_paste(struct ui *ui, const char *text);
void overlay_close(struct ui *ui);

/* The open prompt's label with its run. */
void prompt_label(const struct ui *ui, char *buffer, size_t size);

#endif
