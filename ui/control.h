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

/*
 * control_settings.c: the settings page, whose lines are the keeper's settings.
 */
/* The setting in `line` and its name without the group; false behind the last. */
bool settings_look(const struct ui *ui, int line, struct setting *setting, const char **member);
int settings_count(const struct ui *ui);
/* How many settings.conf does not hold as they are now. */
int settings_unsaved(const struct ui *ui);
/* Does it belong to the group `screen`? */
bool settings_of_screen(const struct setting *setting);
bool settings_can(const struct ui *ui, enum action action);
bool settings_act(struct ui *ui, enum action action);
void settings_opened(struct ui *ui);
void settings_left(struct ui *ui);
/* The value being typed; the page draws it. */
extern const struct prompt settings_prompt;

#endif
