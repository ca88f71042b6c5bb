/* SPDX-License-Identifier: MIT */
#include "ui/actions/runs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/figure.h"
#include "base/text.h"
#include "spec/json.h"
#include "ui/actions/chosen/delete.h"
#include "ui/actions/chosen/differences.h"
#include "ui/actions/chosen/export.h"
#include "ui/actions/chosen/tags.h"
#include "ui/actions/resume.h"
#include "ui/actions/views.h"

/* Starting, stopping, changing and queueing runs, from every view that shows them. */

enum { NOTE_MOST = 400 }; /* bytes, of docs/protocol.md */

static bool is_live(const struct ui *ui, long run)
{
    return run != 0 && run == ui->state.live.run;
}

/* Is there a run that waits or trains, and which of them would be changed? */
static bool can_control(const struct ui *ui, enum action action)
{
    long run = ui_run_in_question(ui);
    if (ui->link != LINK_UP || run == 0)
        return false;
    return action == ACTION_STOP || action == ACTION_EPOCHS || is_live(ui, run) ||
           action == ACTION_RETUNE;
}

bool runs_can(const struct ui *ui, enum action action)
{
    const struct state_run *selected = state_run(&ui->state, ui->selected_run);
    int place = state_queue_place(&ui->state, ui->selected_run);
    switch (action) {
    case ACTION_START:
        return ui->link == LINK_UP;
    case ACTION_STOP:
    case ACTION_PAUSE:
    case ACTION_RETUNE:
    case ACTION_EPOCHS:
        return can_control(ui, action);
    case ACTION_CONFUSION:
    case ACTION_COPY:
    case ACTION_NOTE:
        return ui->link == LINK_UP && selected;
    case ACTION_TAGS:
        return ui->link == LINK_UP && ui_runs_chosen(ui).count > 0;
    case ACTION_EXPORT:
        return ui->link == LINK_UP && ui->exported.write && ui_runs_chosen(ui).count > 0;
    case ACTION_DETAILS:
        return selected != NULL;
    case ACTION_MARK:
        return selected && selected->status != RUN_QUEUED;
    case ACTION_DIFFERENCES:
        return differences_can(ui);
    case ACTION_DELETE:
        return ui->link == LINK_UP && delete_can(ui);
    case ACTION_RESUME:
        return ui->link == LINK_UP && selected && run_has_ended(selected);
    case ACTION_EARLIER:
        return ui->link == LINK_UP && place > 0;
    case ACTION_LATER:
        return ui->link == LINK_UP && place >= 0 && place + 1 < ui->state.queued;
    default:
        return true;
    }
}

void runs_start(struct ui *ui)
{
    struct error err = ERROR_INIT;
    if (!spec_validate(&ui->form.spec, &err)) {
        ui_say(ui, true, "%s", err.text);
        return;
    }
    json_t *params = spec_given_to_json(&ui->form.spec);
    if (!params) {
        spec_json_failed(&ui->form.spec, &err);
        ui_say(ui, true, "%s", err.text);
        return;
    }
    if (!ui_request(ui, REQUEST_SUBMIT, params))
        return;
    /* These values now belong together; the next change of devices starts from them. */
    ui->form.base_devices = 0;
    ui_say(ui, false, "submitted");
}

static bool accept_lr(struct ui *ui, const char *text)
{
    double lr;
    if (!parse_double(text, 0, SPEC_MAX_LR, &lr) || lr <= 0)
        return ui_say(ui, true, "wants a number above 0, such as 0.05");
    return ui_request(ui, REQUEST_SET_LR,
                      json_pack("{s:I, s:f}", "run", (json_int_t)ui->asked_run, "lr", lr));
}

static bool accept_epochs(struct ui *ui, const char *text)
{
    long epochs;
    if (!parse_long(text, 1, SPEC_MAX_EPOCHS, &epochs))
        return ui_say(ui, true, "wants a whole number from 1 to 1000000");
    return ui_request(
        ui, REQUEST_SET_EPOCHS,
        json_pack("{s:I, s:I}", "run", (json_int_t)ui->asked_run, "epochs", (json_int_t)epochs));
}

static bool accept_note(struct ui *ui, const char *text)
{
    if (strlen(text) > NOTE_MOST)
        return ui_say(ui, true, "wants at most %d bytes, these are %zu", NOTE_MOST, strlen(text));
    return ui_request(ui, REQUEST_NOTE,
                      json_pack("{s:I, s:s}", "run", (json_int_t)ui->asked_run, "text", text));
}

static const struct prompt lr_prompt = {
    .label = "Learning rate of run %ld: ",
    .hint = "from the next step on; scales the rest of a schedule",
    .accept = accept_lr,
};
static const struct prompt waiting_lr_prompt = {
    .label = "Learning rate of run %ld: ",
    .hint = "it waits and starts with this",
    .accept = accept_lr,
};
static const struct prompt epochs_prompt = {
    .label = "Epochs of run %ld: ",
    .hint = "in all, those done included",
    .accept = accept_epochs,
};
static const struct prompt note_prompt = {
    .label = "Note on run %ld: ",
    .accept = accept_note,
    .extends = true,
};

static void begin_retune(struct ui *ui, long run)
{
    const struct state_run *listed = state_run(&ui->state, run);
    double lr = is_live(ui, run) ? ui->state.live.lr : listed ? listed->lr : NAN;
    struct figure figure;
    ui_prompt(ui, is_live(ui, run) ? &lr_prompt : &waiting_lr_prompt, run,
              isfinite(lr) ? figure_digits(&figure, lr, 4) : "");
}

static void begin_epochs(struct ui *ui, long run)
{
    const struct state_run *listed = state_run(&ui->state, run);
    double epochs = is_live(ui, run) ? ui->state.live.epochs : listed ? listed->epochs : NAN;
    struct figure figure;
    ui_prompt(ui, &epochs_prompt, run, isfinite(epochs) ? figure_whole(&figure, epochs) : "");
}

static void stop(struct ui *ui, const char *when, const char *what)
{
    json_t *params = json_pack("{s:I, s:s}", "run", (json_int_t)ui->asked_run, "when", when);
    if (ui_request(ui, REQUEST_STOP, params))
        ui_say(ui, false, "run %ld %s", ui->asked_run, what);
}

static void answer_stop(struct ui *ui, enum action answer)
{
    switch (answer) {
    case ACTION_AFTER_EPOCH:
        stop(ui, "epoch", "stops after its epoch");
        break;
    case ACTION_AT_ONCE:
        stop(ui, "now", "stops at once");
        break;
    case ACTION_CANCEL_STOP:
        stop(ui, "never", "continues: its stop is cancelled");
        break;
    default:
        stop(ui, "step", is_live(ui, ui->asked_run) ? "stops after its step" : "leaves the queue");
        break;
    }
}

static void decline_stop(struct ui *ui)
{
    ui_say(ui, false, is_live(ui, ui->asked_run) ? "run %ld continues" : "run %ld waits",
           ui->asked_run);
}

static const struct question stop_live = {
    .answers = {ACTION_YES, ACTION_AFTER_EPOCH, ACTION_AT_ONCE},
    .answer = answer_stop,
    .declined = decline_stop,
    .moot = true,
};
static const struct question stop_sooner = {
    .answers = {ACTION_YES, ACTION_CANCEL_STOP, ACTION_AT_ONCE},
    .answer = answer_stop,
    .declined = decline_stop,
    .moot = true,
};
static const struct question stop_queued = {
    .answers = {ACTION_YES},
    .answer = answer_stop,
    .declined = decline_stop,
    .moot = true,
};

static void ask_stop(struct ui *ui, long run)
{
    if (!is_live(ui, run))
        ui_ask(ui, &stop_queued, run, "Take run %ld out of the queue?", run);
    else if (ui->state.live.stop_after_epoch)
        ui_ask(ui, &stop_sooner, run,
               "Run %ld stops after its epoch. Stop it after this step, or at once?", run);
    else
        ui_ask(ui, &stop_live, run,
               "Stop run %ld after this step (yes), after its epoch, or at once?", run);
}

/* Moved here at once, so that the next key counts from there; the engine's next state corrects it.
 */
static void move_in_queue(struct ui *ui, int by)
{
    int from = state_queue_place(&ui->state, ui->selected_run), to = from + by;
    long *queue = ui->state.queue;
    if (!ui_request(ui, REQUEST_MOVE,
                    json_pack("{s:I, s:i}", "run", (json_int_t)ui->selected_run, "place", to)))
        return;
    queue[from] = queue[to];
    queue[to] = ui->selected_run;
    if (to == 0)
        ui_say(ui, false, "run %ld is the next one", ui->selected_run);
    else
        ui_say(ui, false, "run %ld waits at place %d of the queue", ui->selected_run, to + 1);
}

/* Between two steps; the state says when that has happened. */
static void pause_or_continue(struct ui *ui, long run)
{
    bool paused = ui->state.live.status == RUN_PAUSED;
    if (ui_request_run(ui, paused ? REQUEST_UNPAUSE : REQUEST_PAUSE, run))
        ui_say(ui, false, paused ? "run %ld continues" : "run %ld pauses after this step", run);
}

static void begin_note(struct ui *ui)
{
    const struct state_run *run = state_run(&ui->state, ui->selected_run);
    ui_prompt(ui, &note_prompt, run->run, run->note);
}

static void toggle_mark(struct ui *ui)
{
    const bool was = ui_is_marked(ui, ui->selected_run);
    ui_toggle_mark(ui, ui->selected_run);
    if (was)
        ui_say(ui, false, "run %ld is no longer marked", ui->selected_run);
    else if (!ui_is_marked(ui, ui->selected_run))
        ui_say(ui, true, "run %ld is not marked: %d others are, the most there can be",
               ui->selected_run, UI_MARKS);
    else if (ui->mark_count > UI_MARKS_DRAWN)
        ui_say(ui, false, "run %ld is marked: %d of %d marked runs are drawn", ui->selected_run,
               UI_MARKS_DRAWN, ui->mark_count);
    else
        ui_say(ui, false, "run %ld is marked: the chart shows it", ui->selected_run);
}

bool runs_act(struct ui *ui, enum action action)
{
    long run = ui_run_in_question(ui);
    switch (action) {
    case ACTION_START:
        runs_start(ui);
        return true;
    case ACTION_STOP:
        ask_stop(ui, run);
        return true;
    case ACTION_PAUSE:
        pause_or_continue(ui, run);
        return true;
    case ACTION_RETUNE:
        begin_retune(ui, run);
        return true;
    case ACTION_EPOCHS:
        begin_epochs(ui, run);
        return true;
    case ACTION_COPY:
        ui_request_run(ui, REQUEST_COPY, ui->selected_run);
        return true;
    case ACTION_DETAILS:
        ui_show_view(ui, VIEW_RUN);
        return true;
    case ACTION_MARK:
        toggle_mark(ui);
        return true;
    case ACTION_NOTE:
        begin_note(ui);
        return true;
    case ACTION_DELETE:
        delete_ask(ui);
        return true;
    case ACTION_EXPORT:
        export_ask(ui);
        return true;
    case ACTION_EARLIER:
    case ACTION_LATER:
        move_in_queue(ui, action == ACTION_EARLIER ? -1 : 1);
        return true;
    case ACTION_TAGS:
        tags_ask(ui);
        return true;
    case ACTION_RESUME:
        resume_ask(ui);
        return true;
    default:
        return false;
    }
}
