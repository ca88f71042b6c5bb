/* SPDX-License-Identifier: MIT */
#include "ui/control.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ui/format.h"

enum context ui_context(const struct ui *ui)
{
    static const enum context of_panel[PANEL_COUNT] = {
        [PANEL_DEVICES] = CONTEXT_DEVICES,
        [PANEL_FORM] = CONTEXT_FORM,
        [PANEL_RUNS] = CONTEXT_RUNS,
    };

    switch (ui->mode) {
    case MODE_EDIT:
    case MODE_RETUNE:
        return CONTEXT_EDIT;
    case MODE_CONFIRM_STOP:
        return CONTEXT_CONFIRM;
    case MODE_HELP:
        return CONTEXT_HELP;
    case MODE_PANELS:
        break;
    }
    return of_panel[ui->focus];
}

bool ui_can(const struct ui *ui, enum action action)
{
    struct form_suggestion suggestion;

    switch (action) {
    case ACTION_START:
        return ui->link == LINK_UP;
    case ACTION_STOP:
        return ui->link == LINK_UP && ui_run_to_stop(ui) != 0;
    case ACTION_RETUNE:
        return ui->link == LINK_UP && ui->state.live.run != 0;
    case ACTION_SCALE:
        return form_suggest(&ui->form, &ui->state, &suggestion);
    case ACTION_ENGINE:
        return ui->link == LINK_LOST || ui->link == LINK_NO_ENGINE;
    case ACTION_COPY:
        return ui->link == LINK_UP && state_run(&ui->state, ui->selected_run) != NULL;
    case ACTION_TOGGLE:
        return form_device_count(&ui->form, &ui->state) > 0;
    case ACTION_MORE:
    case ACTION_LESS:
        return form_steps(ui->form.field);
    default:
        return true;
    }
}

static json_t *run_params(long run)
{
    return json_pack("{s:I}", "run", (json_int_t)run);
}

void control_start(struct ui *ui)
{
    struct error err = ERROR_INIT;

    if (!spec_validate(&ui->form.spec, &err)) {
        ui_say(ui, true, "%s", err.text);
        return;
    }
    json_t *params = spec_to_json(&ui->form.spec);
    if (params == NULL) {
        ui_say(ui, true, "a name or path among the settings is not UTF-8");
        return;
    }
    if (!ui_request(ui, REQUEST_SUBMIT, params))
        return;
    /* These values now belong together; the next change of devices starts from them. */
    ui->form.base_devices = 0;
    ui_say(ui, false, "submitted");
}

static void begin_retune(struct ui *ui)
{
    struct figure lr;

    ui->asked_run = ui->state.live.run;
    ui->mode = MODE_RETUNE;
    editor_begin(&ui->editor,
                 isfinite(ui->state.live.lr) ? figure_short(&lr, ui->state.live.lr) : "");
}

static void accept_retune(struct ui *ui)
{
    double lr;

    if (!parse_double(ui->editor.text, 0, 1e6, &lr) || lr <= 0) {
        ui_say(ui, true, "wants a number above 0, such as 0.05");
        return;
    }
    ui->mode = MODE_PANELS;
    ui_request(ui, REQUEST_SET_LR,
               json_pack("{s:I, s:f}", "run", (json_int_t)ui->asked_run, "lr", lr));
}

static void leave(struct ui *ui)
{
    if (ui->mode == MODE_CONFIRM_STOP)
        ui_say(ui, false, ui->asked_run == ui->state.live.run ? "run %ld goes on" : "run %ld waits",
               ui->asked_run);
    ui->mode = MODE_PANELS;
}

static void answer_yes(struct ui *ui)
{
    ui->mode = MODE_PANELS;
    if (ui_request(ui, REQUEST_STOP, run_params(ui->asked_run)))
        ui_say(ui, false,
               ui->asked_run == ui->state.live.run ? "run %ld stops after its step"
                                                   : "run %ld leaves the queue",
               ui->asked_run);
}

/* Actions that open, change or leave a dialog, or ask the engine. */
static bool act_on_runs(struct ui *ui, enum action action)
{
    switch (action) {
    case ACTION_START:
        control_start(ui);
        return true;
    case ACTION_STOP:
        ui->asked_run = ui_run_to_stop(ui);
        ui->mode = MODE_CONFIRM_STOP;
        return true;
    case ACTION_RETUNE:
        begin_retune(ui);
        return true;
    case ACTION_COPY:
        ui_request(ui, REQUEST_COPY, run_params(ui->selected_run));
        return true;
    case ACTION_YES:
        answer_yes(ui);
        return true;
    case ACTION_NO:
        leave(ui);
        return true;
    case ACTION_ACCEPT:
        if (ui->mode == MODE_RETUNE)
            accept_retune(ui);
        else
            control_accept_edit(ui);
        return true;
    case ACTION_ENGINE:
        ui->want_engine = true;
        return true;
    default:
        return false;
    }
}

static void act_on_screen(struct ui *ui, enum action action)
{
    switch (action) {
    case ACTION_UP:
    case ACTION_DOWN:
    case ACTION_FIRST:
    case ACTION_LAST:
        control_move(ui, action);
        break;
    case ACTION_NEXT_PANEL:
        ui->focus = (enum panel)((ui->focus + 1) % PANEL_COUNT);
        break;
    case ACTION_PREVIOUS_PANEL:
        ui->focus = (enum panel)((ui->focus + PANEL_COUNT - 1) % PANEL_COUNT);
        break;
    case ACTION_TEST_ACC:
    case ACTION_TRAIN_ACC:
    case ACTION_TRAIN_LOSS:
    case ACTION_TEST_LOSS:
        ui->metric = (enum metric)(METRIC_TEST_ACC + (action - ACTION_TEST_ACC));
        break;
    case ACTION_NEXT_METRIC:
        ui->metric = (enum metric)((ui->metric + 1) % METRIC_COUNT);
        break;
    case ACTION_HELP:
        ui->mode = MODE_HELP;
        ui->help_line = 0;
        break;
    case ACTION_REDRAW:
        ui->want_redraw = true;
        break;
    case ACTION_QUIT:
        ui->quit = true;
        break;
    default:
        break;
    }
}

void ui_act(struct ui *ui, enum action action)
{
    if (!ui_can(ui, action)) {
        if (action == ACTION_STOP || action == ACTION_RETUNE)
            ui_say(ui, false, "no run is going on");
        else if (action == ACTION_START)
            ui_say(ui, true, "there is no engine to run on yet");
        return;
    }
    if (!act_on_runs(ui, action) && !control_form(ui, action))
        act_on_screen(ui, action);
    ui_want_curves(ui);
}

void ui_key(struct ui *ui, int key)
{
    enum context context = ui_context(ui);
    enum action action = action_for_key(context, key);

    ui->message.text[0] = '\0';
    if (action != ACTION_NONE)
        ui_act(ui, action);
    else if (context == CONTEXT_EDIT)
        editor_key(&ui->editor, key);
}

/* What it trains on in words, because the form may have left that open. */
static void say_begin(struct ui *ui, long run, const json_t *params)
{
    const char *model = json_string_value(json_object_get(params, "model"));
    const char *data = json_string_value(json_object_get(params, "data"));

    /* The failure of the run before it is more important. */
    if (model != NULL && data != NULL && !(ui->message.bad && ui->message.text[0] != '\0'))
        ui_say(ui, false, "run %ld trains %s on %s", run, model, data);
}

void control_event(struct ui *ui, const char *method, const json_t *params)
{
    const char *event = json_string_value(json_object_get(params, "event"));
    const char *status = json_string_value(json_object_get(params, "status"));
    const char *why = json_string_value(json_object_get(params, "error"));
    long run = (long)json_integer_value(json_object_get(params, "run"));

    if (strcmp(method, "event") != 0 || event == NULL)
        return;
    if (strcmp(event, "run") == 0)
        say_begin(ui, run, params);
    if (status == NULL || strcmp(event, "end") != 0)
        return;
    if (ui->asked_run == run && (ui->mode == MODE_RETUNE || ui->mode == MODE_CONFIRM_STOP))
        ui->mode = MODE_PANELS;
    if (why != NULL)
        ui_say(ui, true, "run %ld %s: %s", run, status, why);
    else
        ui_say(ui, false, "run %ld is %s", run, status);
}

static void copy_spec(struct ui *ui, const json_t *result)
{
    struct error err = ERROR_INIT;
    struct spec spec;

    spec_init(&spec);
    /* The new run must not write over what the former one saved. */
    if (spec_from_json(&spec, json_object_get(result, "spec"), &err) &&
        spec_set(&spec, "save", "", &err) && spec_set(&spec, "log", "", &err) &&
        form_take(&ui->form, &spec, &err))
        ui_say(ui, false, "the form has the settings of run %ld", ui->selected_run);
    else
        ui_say(ui, true, "%s", err.text);
    spec_free(&spec);
}

void control_answer(struct ui *ui, enum request request, const json_t *result)
{
    long run = (long)json_integer_value(json_object_get(result, "run"));

    switch (request) {
    case REQUEST_SUBMIT:
        ui_say(ui, false, ui->state.live.run != 0 ? "run %ld waits for its turn" : "run %ld starts",
               run);
        ui->state.runs_stale = true;
        break;
    case REQUEST_STOP:
        ui->state.runs_stale = true;
        break;
    case REQUEST_SET_LR:
        ui_say(ui, false, "run %ld has the new learning rate from the next step on", ui->asked_run);
        break;
    case REQUEST_COPY:
        copy_spec(ui, result);
        break;
    default:
        break;
    }
}
