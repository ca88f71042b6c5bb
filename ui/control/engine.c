/* SPDX-License-Identifier: MIT */
#include "ui/control/engine.h"

#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "spec/json.h"
#include "spec/origin.h"
#include "spec/set.h"
#include "system/local_socket.h"
#include "ui/actions/chart.h"
#include "ui/actions/chosen/delete.h"
#include "ui/actions/chosen/export.h"
#include "ui/actions/confusion.h"
#include "ui/actions/resume.h"
#include "ui/actions/run_details.h"
#include "ui/actions/run_list.h"
#include "ui/actions/runs.h"
#include "ui/actions/sweep.h"
#include "ui/actions/views.h"
#include "ui/control/form_check.h"
#include "ui/control/refresh.h"
#include "ui/state/log.h"

/* The engine sends a state at most this often; nobody can read faster ones. */
#define WATCH_INTERVAL_S 1.0

/* After anything arrived: ask for what it made necessary. */
static void follow_up(struct ui *ui)
{
    if (ui->link != LINK_UP)
        return;
    if (ui->state.runs_stale) {
        ui->state.runs_stale = false;
        ui_request(ui, REQUEST_RUNS, NULL);
    }
    if (ui->start_when_idle && ui->state.known) {
        ui->start_when_idle = false;
        if (ui->state.live.run == 0 && ui->state.queued == 0)
            runs_start(ui);
        else
            ui_say(ui, false, "run %ld is running: press s to queue the next one",
                   ui->state.live.run);
    }
    chart_follow(ui);
    ui_refresh(ui);
}

void ui_connected(struct ui *ui)
{
    /* After a loss, also when another engine has been started meanwhile. */
    if (ui->link_advice[0] != '\0')
        ui_log_local(ui, LOG_INFO, "connected to an engine again");
    ui->link = LINK_UP;
    ui->silent = ui->stopped = false;
    ui->link_advice[0] = ui->down_since[0] = '\0';
    ui->state.runs_stale = false;
    ui_request(ui, REQUEST_HELLO, json_pack("{s:s}", "version", PACKAGE_VERSION));
    ui_request(ui, REQUEST_WATCH,
               json_pack("{s:f, s:b}", "interval", WATCH_INTERVAL_S, "interrupted", true));
    ui_request(ui, REQUEST_RUNS, NULL);
    if (view_actions(ui->view)->opened)
        view_actions(ui->view)->opened(ui);
}

void ui_line_down(struct ui *ui, double since, int seconds, const char *why)
{
    char next[48], text[sizeof ui->link_advice], date[CLOCK_DATE_TEXT];
    if (seconds > 0)
        snprintf(next, sizeof next, "next try in %d s (e: now)", seconds);
    else
        snprintf(next, sizeof next, "trying again");
    /* Of the date the time of day. */
    const char *time = strchr(clock_date_text(date, since), ' ');
    if (ui->down_since[0] == '\0') {
        snprintf(text, sizeof text, "the line to %s is lost: %s", ui->host, why);
        ui_disconnected(ui, LINK_LOST, text);
        snprintf(ui->down_since, sizeof ui->down_since, "%.8s", time ? time + 1 : "?");
    }
    snprintf(ui->link_advice, sizeof ui->link_advice, "line to %s down since %s, %s: %s", ui->host,
             ui->down_since, next, why);
}

void ui_silence(struct ui *ui)
{
    ui->silent = true;
    ui->message.text[0] = '\0';
    ui_log_local(ui, LOG_WARNING, "the engine does not answer");
}

void ui_disconnected(struct ui *ui, enum link_state link, const char *advice)
{
    if (link != ui->link || strcmp(advice, ui->link_advice) != 0)
        ui_log_local(ui, link == LINK_LOST ? LOG_WARNING : LOG_ERROR, "%s", advice);
    ui->link = link;
    ui->silent = false;
    /* What to do now matters more than an older message. */
    ui->message.text[0] = '\0';
    snprintf(ui->link_advice, sizeof ui->link_advice, "%s", advice);
    state_disconnected(&ui->state);
    ui->check = (struct form_check){.asked = false};
    ui->compare.submitting = false;
    ui->evaluation.asked_run = 0;
    ui->deletion.asked = 0;
    export_answered(ui, NULL, &(struct error){ERROR_FAILED, "the engine is lost"});
    /* Questions about a run that may be gone are moot. */
    if (ui->question && ui->question->moot)
        overlay_close(ui);
    run_list_refresh(ui);
}

/* As the form's setting says, which is of this terminal: the run may be another one's. */
static void ring(struct ui *ui, const char *status)
{
    const char *notify = ui->form.spec.notify;
    if (notify && strcmp(notify, "bell") == 0 && strcmp(status, "cancelled") != 0)
        ui->want_bell = true;
}

/* What it trains on in words, because the form may have left that open. */
static void say_begin(struct ui *ui, long run, const json_t *params)
{
    const char *model = json_string_value(json_object_get(params, "model"));
    const char *data = json_string_value(json_object_get(params, "data"));
    /* The failure of the previous run is more important. */
    if (model && data && !(ui->message.bad && ui->message.text[0] != '\0'))
        ui_news(ui, false, "run %ld trains %s on %s", run, model, data);
}

static void tell_event(struct ui *ui, const char *method, const json_t *params)
{
    const char *event = json_string_value(json_object_get(params, "event"));
    const char *status = json_string_value(json_object_get(params, "status"));
    const char *why = json_string_value(json_object_get(params, "error"));
    const char *text = json_string_value(json_object_get(params, "text"));
    long run = (long)json_integer_value(json_object_get(params, "run"));
    if (strcmp(method, "event") != 0 || !event)
        return;
    if (strcmp(event, "run") == 0)
        say_begin(ui, run, params);
    if (strcmp(event, "warning") == 0 && text)
        ui_news(ui, true, "run %ld: %s", run, text);
    if (!status || strcmp(event, "end") != 0)
        return;
    ring(ui, status);
    if (ui->asked_run == run && ui->question && ui->question->moot)
        overlay_close(ui);
    if (why)
        ui_news(ui, true, "run %ld %s: %s", run, status, why);
    else
        ui_news(ui, false, "run %ld is %s", run, status);
}

void ui_notification(struct ui *ui, const json_t *message)
{
    const char *method = json_string_value(json_object_get(message, "method"));
    const json_t *params = json_object_get(message, "params");
    struct error err = ERROR_INIT;
    if (!method)
        return;
    if (!state_notification(&ui->state, method, params, &err))
        ui_say(ui, true, "%s", err.text);
    run_details_event(ui, method, params);
    if (strcmp(method, "evaluate") == 0)
        confusion_progress(ui, params);
    if (strcmp(method, "log") == 0)
        log_arrived(ui);
    ui->stopped |= strcmp(method, "leaving") == 0;
    log_lost_devices(ui);
    tell_event(ui, method, params);
    form_check_problem(ui);
    follow_up(ui);
}

/* An engine may be left over from before an update of this program. */
static void greeted(struct ui *ui, const json_t *result)
{
    const char *version = json_string_value(json_object_get(result, "version"));
    const bool understood =
        json_integer_value(json_object_get(result, "protocol")) == PROTOCOL_VERSION;
    const bool far = ui->host[0] != '\0';
    if (understood && (!far || !version || strcmp(version, PACKAGE_VERSION) == 0))
        return;
    if (understood)
        ui_say(ui, false,
               "%s has version %.40s, this host " PACKAGE_VERSION
               ": what only one of them knows does not work",
               ui->host, version);
    else
        ui_say(ui, true,
               far ? "the engine over there is of version %.40s, this program of " PACKAGE_VERSION
                     ": install the same version on both hosts"
                   : "the running engine is of version %.40s, this program of " PACKAGE_VERSION
                     ": end it with 'dpartui engine stop'",
               version ? version : "?");
    ui_log_local(ui, understood ? LOG_WARNING : LOG_ERROR, "%s", ui->message.text);
}

/* What a crash has left; the engine says so once. */
static void tell_interrupted(struct ui *ui, const json_t *runs)
{
    char list[KEY_NAME_SIZE], resume[KEY_NAME_SIZE];
    const size_t count = json_array_size(runs);
    if (count == 0 || (ui->message.bad && ui->message.text[0] != '\0'))
        return;
    keymap_first(&ui->keymap, ACTION_VIEW_RUNS, list);
    keymap_first(&ui->keymap, ACTION_RESUME, resume);
    if (count == 1)
        ui_say(ui, false, "run %ld was interrupted: %s lists it, and there %s resumes it",
               (long)json_integer_value(json_array_get(runs, 0)), list, resume);
    else
        ui_say(ui, false, "%zu runs were interrupted: %s lists them, and there %s resumes one",
               count, list, resume);
}

static void copy_spec(struct ui *ui, const json_t *result)
{
    struct error err = ERROR_INIT;
    struct spec spec;
    spec_init(&spec);
    /* The new run must not write over what the former one saved. */
    if (spec_from_json(&spec, json_object_get(result, "spec"), &err) &&
        spec_set(&spec, "save", "", &err) && spec_set(&spec, "save_best", "", &err) &&
        spec_set(&spec, "log", "", &err) && spec_set(&spec, "tensorboard", "", &err) &&
        spec_reopen(&spec, &err) && form_take(&ui->form, &spec, &err))
        ui_say(ui, false, "the form has the settings of run %ld",
               (long)json_integer_value(json_object_get(result, "run")));
    else
        ui_say(ui, true, "%s", err.text);
    spec_free(&spec);
}

static void take_answer(struct ui *ui, enum request request, const json_t *result)
{
    long run = (long)json_integer_value(json_object_get(result, "run"));
    switch (request) {
    case REQUEST_SUBMIT:
        ui_say(ui, false, ui->state.live.run != 0 ? "run %ld waits for its turn" : "run %ld starts",
               run);
        ui->state.runs_stale = true;
        ui->check.of = 0; /* what was a problem is none */
        break;
    case REQUEST_RESUME:
        ui_say(ui, false,
               ui->state.live.run != 0 ? "run %ld waits for its turn to resume" : "run %ld resumes",
               run);
        ui->state.runs_stale = true;
        break;
    case REQUEST_SWEEP:
        sweep_taken(ui, run);
        break;
    case REQUEST_STOP:
    case REQUEST_SET_EPOCHS:
    case REQUEST_MOVE:
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
    case REQUEST_DELETE:
        delete_answered(ui, NULL);
        break;
    case REQUEST_CHECKPOINTS:
        delete_measured(ui, result);
        resume_measured(ui, result);
        break;
    default:
        break;
    }
}

void ui_answer(struct ui *ui, enum request request, const json_t *result,
               const struct error *failure)
{
    struct error err = ERROR_INIT;
    bool ok = true;
    if (!result) {
        if (request == REQUEST_SWEEP)
            sweep_refused(ui);
        if (request == REQUEST_EVALUATE) {
            confusion_answered(ui, NULL, failure);
            return;
        }
        if (request == REQUEST_EXPORT) {
            export_answered(ui, NULL, failure);
            return;
        }
        /* A run that was deleted meanwhile has no curve; that is no error. Nor is an engine of
         * another version that does not measure checkpoints. */
        if (request == REQUEST_SHOW || request == REQUEST_CHECKPOINTS)
            return;
        if (request == REQUEST_CHECK) {
            form_checked(ui, NULL, failure);
            return;
        }
        ui_log_local(ui, LOG_WARNING, "%s was refused: %s", request_method(request), failure->text);
        ui_say(ui, true, "%s", failure->text);
        if (request == REQUEST_DELETE) {
            delete_answered(ui, failure);
            follow_up(ui);
        }
        return;
    }
    switch (request) {
    case REQUEST_HELLO:
        greeted(ui, result);
        break;
    case REQUEST_WATCH:
        tell_interrupted(ui, json_object_get(result, "interrupted"));
        break;
    case REQUEST_RUNS:
        ok = state_runs(&ui->state, result, &err);
        break;
    case REQUEST_EXPORT:
        export_answered(ui, result, NULL);
        break;
    case REQUEST_SHOW:
        ok = state_show(&ui->state, result, &err) && details_show(&ui->details, result, &err) &&
             run_pair_show(&ui->pair, result, &err);
        break;
    case REQUEST_CHECK:
        form_checked(ui, result, NULL);
        break;
    case REQUEST_EVALUATE:
        confusion_answered(ui, result, NULL);
        break;
    case REQUEST_LOG:
        ok = state_log(&ui->state, result, &err);
        break;
    default:
        take_answer(ui, request, result);
        break;
    }
    if (!ok)
        ui_say(ui, true, "%s", err.text);
    follow_up(ui);
}
