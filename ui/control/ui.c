/* SPDX-License-Identifier: MIT */
#include "ui/control/ui.h"

#include "config.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "system/local_socket.h"
#include "ui/control/comparison.h"
#include "ui/control/control.h"
#include "ui/control/log_lines.h"
#include "ui/control/overlay.h"
#include "ui/control/run_chart.h"
#include "ui/views/views.h"

/* The engine sends a state at most this often; faster figures nobody can read. */
#define WATCH_INTERVAL_S 1.0

const char *request_method(enum request request)
{
    static const char *const methods[REQUEST_COUNT] = {
        [REQUEST_HELLO] = "hello",   [REQUEST_WATCH] = "watch",
        [REQUEST_RUNS] = "runs",     [REQUEST_SHOW] = "show",
        [REQUEST_COPY] = "show",     [REQUEST_SUBMIT] = "submit",
        [REQUEST_SWEEP] = "submit",  [REQUEST_STOP] = "stop",
        [REQUEST_SET_LR] = "set_lr", [REQUEST_SET_EPOCHS] = "set_epochs",
        [REQUEST_PAUSE] = "pause",   [REQUEST_UNPAUSE] = "unpause",
        [REQUEST_MOVE] = "move",     [REQUEST_DELETE] = "delete",
        [REQUEST_NOTE] = "note",     [REQUEST_LOG] = "log",
        [REQUEST_CHECK] = "check",   [REQUEST_TAGS] = "tag",
        [REQUEST_GO_ON] = "submit",
    };
    return methods[request];
}

bool ui_init(struct ui *ui, const struct spec *spec, struct error *err)
{
    *ui = (struct ui){.link = LINK_STARTING, .rows = 24, .columns = 80};
    keymap_init(&ui->keymap);
    preferences_init(&ui->preferences);
    state_init(&ui->state);
    return form_init(&ui->form, spec, err);
}

void ui_free(struct ui *ui)
{
    form_free(&ui->form);
    run_list_free(&ui->list);
    details_free(&ui->details);
    sweep_free(&ui->compare.sweep);
    state_free(&ui->state);
}

void ui_say(struct ui *ui, bool bad, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(ui->message.text, sizeof ui->message.text, format, arguments);
    va_end(arguments);
    ui->message.bad = bad;
}

bool ui_request(struct ui *ui, enum request request, json_t *params)
{
    struct error err = ERROR_INIT;
    if (ui->link != LINK_UP || !ui->requester.send) {
        json_decref(params);
        ui_say(ui, true, "no engine: %s",
               ui->link == LINK_STARTING ? "it is being started" : "press e to start it");
        return false;
    }
    if (ui->requester.send(ui->requester.context, request, params, &err))
        return true;
    ui_log_local(ui, LOG_ERROR, "%s was not sent: %s", request_method(request), err.text);
    ui_say(ui, true, "%s", err.text);
    return false;
}

bool ui_request_run(struct ui *ui, enum request request, long run)
{
    return ui_request(ui, request, json_pack("{s:I}", "run", (json_int_t)run));
}

const struct state_run *ui_run_line(const struct ui *ui, int line)
{
    int at = ui->state.run_count - 1 - line;
    return at >= 0 && line >= 0 ? &ui->state.runs[at] : NULL;
}

bool run_has_ended(const struct state_run *run)
{
    return run->status == RUN_DONE || run->status == RUN_STOPPED || run->status == RUN_FAILED ||
           run->status == RUN_INTERRUPTED;
}

long ui_run_in_question(const struct ui *ui)
{
    const struct state_run *selected = state_run(&ui->state, ui->selected_run);
    bool of_runs = ui->view == VIEW_RUNS || ui->view == VIEW_RUN || ui->view == VIEW_COMPARE;
    bool in_focus = of_runs || (ui->view == VIEW_DASHBOARD && ui->focus == PANEL_RUNS);
    if (in_focus && selected && !run_has_ended(selected))
        return selected->run;
    return of_runs && selected ? 0 : ui->state.live.run;
}

bool ui_is_marked(const struct ui *ui, long run)
{
    for (int i = 0; i < ui->mark_count; i++)
        if (ui->marked[i] == run)
            return true;
    return false;
}

void ui_toggle_mark(struct ui *ui, long run)
{
    bool was = ui_is_marked(ui, run);
    int kept = 0;
    for (int i = 0; i < ui->mark_count; i++)
        if (ui->marked[i] != run && !(i == 0 && !was && ui->mark_count == UI_MARKS))
            ui->marked[kept++] = ui->marked[i];
    if (!was)
        ui->marked[kept++] = run;
    ui->mark_count = kept;
}

/* What stands in front: the run that goes on, else the newest that has trained. */
static const struct state_run *main_run(const struct ui *ui)
{
    const struct state_run *run = state_run(&ui->state, ui->state.live.run);
    for (int i = 0; !run && i < ui->state.run_count; i++) {
        const struct state_run *newest = ui_run_line(ui, i);
        if (newest->epochs_done > 0 || newest->point_count > 0)
            run = newest;
    }
    return run;
}

static bool has_curve(const struct state_run *run)
{
    return run->epochs_done > 0 || run->point_count > 0;
}

static int pick(const struct state_run **picked, int count, const struct state_run *run)
{
    if (!run || count == UI_CHART_RUNS)
        return count;
    for (int i = 0; i < count; i++)
        if (picked[i] == run)
            return count;
    picked[count] = run;
    return count + 1;
}

int ui_chart_runs(const struct ui *ui, const struct state_run **runs)
{
    enum { EARLIER_RUNS = 6 };
    const struct state_run *front = main_run(ui);
    const struct state_run *picked[UI_CHART_RUNS];
    int count = pick(picked, 0, front), shown = 0;
    count = pick(picked, count, state_run(&ui->state, ui->selected_run));
    for (int i = ui->mark_count; i-- > 0;)
        count = pick(picked, count, state_run(&ui->state, ui->marked[i]));
    /* With runs marked, what to compare with has been chosen. */
    for (int i = 0; ui->mark_count == 0 && front && i < ui->state.run_count && count < EARLIER_RUNS;
         i++) {
        const struct state_run *run = ui_run_line(ui, i);
        if (strcmp(run->data, front->data) == 0 && has_curve(run))
            count = pick(picked, count, run);
    }
    while (count > 0)
        runs[shown++] = picked[--count];
    return shown;
}

static void want_curve(struct ui *ui, long number)
{
    struct state_run *run = state_run(&ui->state, number);
    if (state_use_curve(&ui->state, run))
        run->curve_known = ui_request_run(ui, REQUEST_SHOW, number);
}

/* Their settings tell whether they may stand side by side. */
static void want_compared(struct ui *ui)
{
    struct comparison comparison;
    comparison_make(ui, &comparison);
    if (comparison.anchor)
        want_curve(ui, comparison.anchor->run);
    for (int i = 0; i < comparison_lines(&comparison); i++)
        want_curve(ui, comparison_row(&comparison, i, NULL)->run.run);
}

/* Ask for the curves that the chart would show and that are not here. */
void ui_want_curves(struct ui *ui)
{
    const struct state_run *runs[UI_CHART_RUNS];
    if (ui->link != LINK_UP)
        return;
    for (int i = ui_chart_runs(ui, runs); i-- > 0;)
        want_curve(ui, runs[i]->run);
    if (ui->view == VIEW_COMPARE)
        want_compared(ui);
}

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
            control_start(ui);
        else
            ui_say(ui, false, "run %ld goes on: press s to queue the next one", ui->state.live.run);
    }
    chart_follow(ui);
    run_list_refresh(ui);
    ui_want_curves(ui);
    form_want_check(ui);
}

void ui_connected(struct ui *ui)
{
    /* After a loss, also when another engine has been started meanwhile. */
    if (ui->link_advice[0] != '\0')
        ui_log_local(ui, LOG_INFO, "connected to an engine again");
    ui->link = LINK_UP;
    ui->silent = false;
    ui->link_advice[0] = '\0';
    ui->state.runs_stale = ui->interrupted_told = false;
    ui_request(ui, REQUEST_HELLO, json_pack("{s:s}", "version", PACKAGE_VERSION));
    ui_request(ui, REQUEST_WATCH, json_pack("{s:f}", "interval", WATCH_INTERVAL_S));
    ui_request(ui, REQUEST_RUNS, NULL);
    if (view_of(ui->view)->opened)
        view_of(ui->view)->opened(ui);
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
    /* What went on before is less pressing than what to do now. */
    ui->message.text[0] = '\0';
    snprintf(ui->link_advice, sizeof ui->link_advice, "%s", advice);
    state_disconnected(&ui->state);
    ui->check = (struct form_check){.asked = false};
    ui->compare.submitting = false;
    /* Questions about a run that may be gone are moot. */
    if (ui->question && ui->question->moot)
        overlay_close(ui);
    run_list_refresh(ui);
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
    if (strcmp(method, "log") == 0)
        log_arrived(ui);
    log_lost_devices(ui);
    control_event(ui, method, params);
    follow_up(ui);
}

/* An engine may be left over from before an update of this program. */
static void greeted(struct ui *ui, const json_t *result)
{
    const char *version = json_string_value(json_object_get(result, "version"));
    if (json_integer_value(json_object_get(result, "protocol")) == PROTOCOL_VERSION)
        return;
    ui_say(ui, true,
           "the running engine is of version %.40s, this program of " PACKAGE_VERSION
           ": end it with 'dpartui engine stop'",
           version ? version : "?");
    ui_log_local(ui, LOG_ERROR, "%s", ui->message.text);
}

void ui_answer(struct ui *ui, enum request request, const json_t *result,
               const struct error *failure)
{
    struct error err = ERROR_INIT;
    bool ok = true;
    if (!result) {
        if (request == REQUEST_SWEEP)
            sweep_refused(ui);
        /* A run that was deleted meanwhile has no curve; that is nobody's fault. */
        if (request == REQUEST_SHOW)
            return;
        if (request == REQUEST_CHECK) {
            form_checked(ui, NULL, failure);
            return;
        }
        ui_log_local(ui, LOG_WARNING, "%s was refused: %s", request_method(request), failure->text);
        ui_say(ui, true, "%s", failure->text);
        return;
    }
    switch (request) {
    case REQUEST_HELLO:
        greeted(ui, result);
        break;
    case REQUEST_RUNS:
        ok = state_runs(&ui->state, result, &err);
        say_interrupted(ui);
        break;
    case REQUEST_SHOW:
        ok = state_show(&ui->state, result, &err) && details_show(&ui->details, result, &err);
        break;
    case REQUEST_CHECK:
        form_checked(ui, result, NULL);
        break;
    case REQUEST_LOG:
        ok = state_log(&ui->state, result, &err);
        break;
    default:
        control_answer(ui, request, result);
        break;
    }
    if (!ok)
        ui_say(ui, true, "%s", err.text);
    follow_up(ui);
}
