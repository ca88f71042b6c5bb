/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "ui/control/control.h"
#include "ui/control/overlay.h"

/* What the user is told: why not, what an event means, and what became of a request. */

bool runs_say_why_not(struct ui *ui, enum action action)
{
    const struct state_run *run = state_run(&ui->state, ui->selected_run);
    bool of_runs = ui->view == VIEW_RUNS || ui->view == VIEW_RUN || ui->view == VIEW_COMPARE;
    bool controls = action == ACTION_STOP || action == ACTION_PAUSE || action == ACTION_RETUNE ||
                    action == ACTION_EPOCHS;
    bool needs_engine = controls || action == ACTION_NOTE || action == ACTION_DELETE ||
                        action == ACTION_COPY || action == ACTION_EARLIER ||
                        action == ACTION_LATER || action == ACTION_TAGS || action == ACTION_GO_ON;
    if (action == ACTION_START || (needs_engine && ui->link != LINK_UP))
        ui_say(ui, true, "there is no engine that could do that");
    else if (!run &&
             ((needs_engine && !controls) || action == ACTION_MARK || action == ACTION_DETAILS))
        ui_say(ui, false, "no run is selected");
    else if (action == ACTION_GO_ON)
        ui_say(ui, false, "run %ld has not ended", run->run);
    else if (action == ACTION_DELETE)
        ui_say(ui, false, "run %ld has not ended: stop it first", run->run);
    else if ((action == ACTION_EARLIER || action == ACTION_LATER) && run->status == RUN_QUEUED)
        ui_say(ui, false, "run %ld is the %s of the queue already", run->run,
               action == ACTION_EARLIER ? "first" : "last");
    else if (action == ACTION_EARLIER || action == ACTION_LATER)
        ui_say(ui, false, "run %ld does not wait", run->run);
    else if (action == ACTION_MARK && run)
        ui_say(ui, false, "run %ld waits: it has no curve yet", run->run);
    else if (controls && of_runs && run && run_has_ended(run))
        ui_say(ui, false, "run %ld has ended", run->run);
    else if (action == ACTION_PAUSE && run && run->status == RUN_QUEUED)
        ui_say(ui, false, "run %ld waits: there is nothing to pause", run->run);
    else if (controls)
        ui_say(ui, false, "no run is going on");
    else
        return false;
    return true;
}

void say_nothing_to_do(struct ui *ui, enum action action)
{
    switch (action) {
    case ACTION_BACK:
        break;
    case ACTION_ENGINE:
        ui_say(ui, false, "the engine is there already");
        break;
    case ACTION_SCALE:
        ui_say(ui, false, "nothing is suggested: choose more devices or fewer first");
        break;
    case ACTION_MORE:
    case ACTION_LESS:
        ui_say(ui, false, "this value has no steps: type it");
        break;
    case ACTION_ZOOM_OUT:
    case ACTION_ZOOM_ALL:
        ui_say(ui, false, "all epochs are in sight");
        break;
    default:
        ui_say(ui, false, "there is nothing to do that with");
        break;
    }
}

void say_unbound(struct ui *ui, int key)
{
    char name[KEY_NAME_SIZE], help[KEY_NAME_SIZE];
    /* An escape sequence that is none of a key known here was not typed as such. */
    if (key <= 0 || key >= KEYCODE_OTHER || key == KEYCODE_ESCAPE)
        return;
    keymap_first(&ui->keymap, ACTION_HELP, help);
    ui_say(ui, false, "%s does nothing here%s%s%s", key_text(key, name),
           help[0] != '\0' ? "; " : "", help, help[0] != '\0' ? " shows the keys that do" : "");
}

/* What it trains on in words, because the form may have left that open. */
static void say_begin(struct ui *ui, long run, const json_t *params)
{
    const char *model = json_string_value(json_object_get(params, "model"));
    const char *data = json_string_value(json_object_get(params, "data"));
    /* The failure of the run before it is more important. */
    if (model && data && !(ui->message.bad && ui->message.text[0] != '\0'))
        ui_say(ui, false, "run %ld trains %s on %s", run, model, data);
}

void control_event(struct ui *ui, const char *method, const json_t *params)
{
    const char *event = json_string_value(json_object_get(params, "event"));
    const char *status = json_string_value(json_object_get(params, "status"));
    const char *why = json_string_value(json_object_get(params, "error"));
    long run = (long)json_integer_value(json_object_get(params, "run"));
    if (strcmp(method, "event") != 0 || !event)
        return;
    if (strcmp(event, "run") == 0)
        say_begin(ui, run, params);
    if (!status || strcmp(event, "end") != 0)
        return;
    if (ui->asked_run == run &&
        ((ui->question && ui->question->moot) || (ui->prompt && ui->prompt->moot)))
        overlay_close(ui);
    if (why)
        ui_say(ui, true, "run %ld %s: %s", run, status, why);
    else
        ui_say(ui, false, "run %ld is %s", run, status);
}

void say_interrupted(struct ui *ui)
{
    const struct state *state = &ui->state;
    bool told = ui->interrupted_told;
    char list[KEY_NAME_SIZE], go_on[KEY_NAME_SIZE];
    int count = 0;
    long newest = 0;
    ui->interrupted_told = true;
    /* No more when others have been trained since. */
    for (int i = state->run_count; i-- > 0;) {
        const struct state_run *run = &state->runs[i];
        if (run_has_ended(run) && run->status != RUN_INTERRUPTED)
            break;
        if (run->status != RUN_INTERRUPTED)
            continue;
        newest = newest == 0 ? run->run : newest;
        count++;
    }
    if (told || count == 0 || (ui->message.bad && ui->message.text[0] != '\0'))
        return;
    keymap_first(&ui->keymap, ACTION_VIEW_RUNS, list);
    keymap_first(&ui->keymap, ACTION_GO_ON, go_on);
    if (count == 1)
        ui_say(ui, false, "run %ld was interrupted: %s lists it, and there %s lets it go on",
               newest, list, go_on);
    else
        ui_say(ui, false, "%d runs were interrupted: %s lists them, and there %s lets one go on",
               count, list, go_on);
}

static void copy_spec(struct ui *ui, const json_t *result)
{
    struct error err = ERROR_INIT;
    struct spec spec;
    spec_init(&spec);
    /* The new run must not write over what the former one saved. */
    if (spec_from_json(&spec, json_object_get(result, "spec"), &err) &&
        spec_set(&spec, "save", "", &err) && spec_set(&spec, "log", "", &err) &&
        spec_set(&spec, "tensorboard", "", &err) && form_take(&ui->form, &spec, &err))
        ui_say(ui, false, "the form has the settings of run %ld",
               (long)json_integer_value(json_object_get(result, "run")));
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
    case REQUEST_GO_ON:
        ui_say(ui, false,
               ui->state.live.run != 0 ? "run %ld waits for its turn to go on" : "run %ld goes on",
               run);
        ui->state.runs_stale = true;
        break;
    case REQUEST_SWEEP:
        sweep_taken(ui, run);
        break;
    case REQUEST_STOP:
    case REQUEST_SET_EPOCHS:
    case REQUEST_MOVE:
    case REQUEST_DELETE:
    case REQUEST_NOTE:
    case REQUEST_TAGS:
        ui->state.runs_stale = true;
        break;
    case REQUEST_SET_LR:
        ui_say(ui, false,
               ui->asked_run == ui->state.live.run
                   ? "run %ld has the new learning rate from the next step on"
                   : "run %ld starts with the new learning rate",
               ui->asked_run);
        ui->state.runs_stale = true;
        break;
    case REQUEST_COPY:
        copy_spec(ui, result);
        break;
    default:
        break;
    }
}
