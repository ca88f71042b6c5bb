/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_CONTROL_H
#define DPARTUI_UI_CONTROL_H

#include "ui/ui.h"

/* What keys and answers do (part of ui/ui.h). */

/* Ask for the curves that the chart would show and that are not here. */
void ui_want_curves(struct ui *ui);

/* control_dashboard.c: what the keys do in the dashboard's lists and form. */
bool dashboard_can(const struct ui *ui, enum action action);
bool dashboard_act(struct ui *ui, enum action action);
/* The form's value being typed; the form draws it. */
extern const struct prompt form_prompt;

/* control_chart.c: in its chart. */
bool chart_can(const struct ui *ui, enum action action);
/* False when the action is none of the chart's. */
bool chart_act(struct ui *ui, enum action action);

/*
 * control_runs.c: start, stop, retune and the queue, from every view that shows runs.
 */
bool runs_can(const struct ui *ui, enum action action);
/* False when the action is none of these. */
bool runs_act(struct ui *ui, enum action action);
/* Submit the form. */
void control_start(struct ui *ui);
/* Say what an event means to the user, when it does. */
void control_event(struct ui *ui, const char *method, const json_t *params);
/* The result of a request that changes something. */
void control_answer(struct ui *ui, enum request request, const json_t *result);

#endif
