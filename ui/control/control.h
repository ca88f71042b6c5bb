/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_CONTROL_CONTROL_H
#define DPARTUI_UI_CONTROL_CONTROL_H

#include "ui/control/ui.h"

/* What keys and answers do (part of ui/control/ui.h). */

/* Ask for the curves that the chart would show and that are not here. */
void ui_want_curves(struct ui *ui);

/* control/dashboard.c: what the keys do in the dashboard's lists and form. */
bool dashboard_can(const struct ui *ui, enum action action);
bool dashboard_act(struct ui *ui, enum action action);
/*
 * control/check.c: ask the engine about the form when it has changed since it was asked; its answer
 * or (`result` NULL) refusal.
 */
void form_want_check(struct ui *ui);
void form_checked(struct ui *ui, const json_t *result, const struct error *failure);
/* The form's value being typed; the form draws it. */
extern const struct prompt form_prompt;

/* control/chart.c: in its chart. */
bool chart_can(const struct ui *ui, enum action action);
/* False when the action is none of the chart's. */
bool chart_act(struct ui *ui, enum action action);
/* Say why an action of the chart cannot be done now; false when it is none. */
bool chart_say_why_not(struct ui *ui, enum action action);

/*
 * control/runs.c: start, stop, retune and the queue, from every view that shows runs.
 */
bool runs_can(const struct ui *ui, enum action action);
/* False when the action is none of these. */
bool runs_act(struct ui *ui, enum action action);
/*
 * control/keeping.c: runs that have ended go on, and tags.
 */
/* Has the selected run ended, so that it may go on from a checkpoint? */
bool keeping_can(const struct ui *ui, enum action action);
/* False when the action is none of these. */
bool keeping_act(struct ui *ui, enum action action);

/* Submit the form. */
void control_start(struct ui *ui);

/* control/sweep.c: the same training on 1, 2, 4... devices, for the compare view. */
void sweep_ask(struct ui *ui);
/*
 * The devices to take the first ones of: those chosen, in their order, or, while only one is
 * chosen, all of its kind that the engine lists.
 */
void sweep_devices(const struct ui *ui, struct device_list *list);
/* The engine took a run of the sweep, or did not. */
void sweep_taken(struct ui *ui, long run);
void sweep_refused(struct ui *ui);
/* Ask whether a waiting run of a sweep, or all of them, leave the queue; false: it is none. */
bool sweep_ask_drop(struct ui *ui, long run);
/* Is the question of a sweep open, whose plan is in ui->compare.sweep? */
bool sweep_is_asked(const struct ui *ui);

/* How far a sweep is whose runs have not all ended. */
struct sweep_progress {
    int count; /* its runs, by rising number of devices */
    const struct state_run *runs[SWEEP_RUNS];
    int ended, waiting;
    const struct state_run *live; /* the one that trains; NULL: none just now */
    double left_s;                /* until the last one ends; NAN: nothing to tell by */
    bool at_least;                /* it may well be more */
};
bool sweep_progress(const struct ui *ui, struct sweep_progress *progress);

/* control/say.c: what the user is told. */
/* Say what an event means to the user, when it does. */
void control_event(struct ui *ui, const char *method, const json_t *params);
/* Why an action on runs cannot be done now; false when there is nothing to say. */
bool runs_say_why_not(struct ui *ui, enum action action);
/* The same for all other actions; coming back from where one is needs no word. */
void say_nothing_to_do(struct ui *ui, enum action action);
/* That a key has no meaning here, and where those are that have. */
void say_unbound(struct ui *ui, int key);
/* After an engine's first list of runs: how many a crash has interrupted, and what to do. */
void say_interrupted(struct ui *ui);
/* The result of a request that changes something. */
void control_answer(struct ui *ui, enum request request, const json_t *result);

/*
 * control/settings.c: the settings page, whose lines are the keeper's settings.
 */
/* The setting in `line` and its name without the group; false behind the last. */
bool settings_look(const struct ui *ui, int line, struct setting *setting, const char **member);
int settings_count(const struct ui *ui);
/* Does it belong to the group `screen`? */
bool settings_of_screen(const struct setting *setting);
bool settings_can(const struct ui *ui, enum action action);
bool settings_act(struct ui *ui, enum action action);
void settings_opened(struct ui *ui);
void settings_left(struct ui *ui);
/* The value being typed; the page draws it. */
extern const struct prompt settings_prompt;

/*
 * control/run_list.c: the list of all runs and the details of one.
 */
/* After anything changed: sort anew, and keep a run of the list in focus. */
void run_list_refresh(struct ui *ui);
/* Ask for the details of the run in focus. */
void run_details_ask(struct ui *ui);
/* What an event means to the details. */
void run_details_event(struct ui *ui, const char *method, const json_t *params);
/* Keys in the list and in the details; false when the action is none of these. */
bool run_list_act(struct ui *ui, enum action action);
bool run_details_act(struct ui *ui, enum action action);

#endif
