/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_CONTROL_H
#define DPARTUI_UI_CONTROL_H

#include "ui/ui.h"

/* What keys and answers do (part of ui/ui.h). */

/* Send a request; a failure becomes the message. */
bool ui_request(struct ui *ui, enum request request, json_t *params);
/* Ask for the curves that the chart would show and that are not here. */
void ui_want_curves(struct ui *ui);
/* Do an action of the lists or the form; false when it is none of those. */
bool control_form(struct ui *ui, enum action action);
/* Move the cursor of what is in focus: up, down, to the first or the last line. */
void control_move(struct ui *ui, enum action action);
/* Take over the value typed in the form, or say what is wrong with it. */
void control_accept_edit(struct ui *ui);
/* Submit the form. */
void control_start(struct ui *ui);
/* Say what an event means to the user, when it does. */
void control_event(struct ui *ui, const char *method, const json_t *params);
/* The result of a request that changes something. */
void control_answer(struct ui *ui, enum request request, const json_t *result);

#endif
