/* SPDX-License-Identifier: MIT */
#include "ui/actions/confusion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "events/confusion.h"
#include "ui/actions/pages.h"
#include "ui/views/confusion.h"

static void clear(struct evaluation *evaluation)
{
    json_decref(evaluation->answer);
    evaluation->answer = NULL;
    evaluation->failure[0] = '\0';
}

static void cancel(struct ui *ui)
{
    ui_request(ui, REQUEST_CANCEL, json_pack("{s:s}", "method", "evaluate"));
}

/* One evaluation at a time: what was asked for before, of another page, is cancelled first, and its
 * answer brings us back here. */
static void ask(struct ui *ui)
{
    struct evaluation *evaluation = &ui->evaluation;
    clear(evaluation);
    if (ui->link != LINK_UP)
        return;
    if (evaluation->asked_run != 0) {
        if (evaluation->asked_run != evaluation->run || evaluation->asked_best != evaluation->best)
            cancel(ui);
        return;
    }
    if (!ui_request(ui, REQUEST_EVALUATE,
                    json_pack("{s:I, s:b, s:b, s:b}", "run", (json_int_t)evaluation->run, "best",
                              evaluation->best, "confusion", 1, "background", 1)))
        return;
    evaluation->asked_run = evaluation->run;
    evaluation->asked_best = evaluation->best;
    evaluation->done = evaluation->total = NAN;
}

void confusion_opened(struct ui *ui)
{
    struct evaluation *evaluation = &ui->evaluation;
    ui_select_any_run(ui);
    if (evaluation->run != ui->selected_run) {
        clear(evaluation);
        evaluation->run = ui->selected_run;
        evaluation->best = false;
        evaluation->column = 0;
    }
    if (evaluation->run != 0 && !evaluation->answer && evaluation->failure[0] == '\0')
        ask(ui);
}

void confusion_progress(struct ui *ui, const json_t *params)
{
    const char *phase = json_string_value(json_object_get(params, "phase"));
    bool prepares = !phase || strcmp(phase, "prepare") == 0;
    ui->evaluation.done = prepares ? NAN : member_number(params, "done");
    ui->evaluation.total = prepares ? NAN : member_number(params, "total");
}

void confusion_answered(struct ui *ui, const json_t *result, const struct error *failure)
{
    struct evaluation *evaluation = &ui->evaluation;
    bool wanted = evaluation->asked_run != 0 && evaluation->asked_run == evaluation->run &&
                  evaluation->asked_best == evaluation->best;
    bool shown = ui->view == VIEW_CONFUSION;
    evaluation->asked_run = 0;
    if (!wanted) {
        if (shown)
            confusion_opened(ui);
        return;
    }
    clear(evaluation);
    struct error unreadable = ERROR_INIT;
    struct confusion_table table = {0};
    if (result && confusion_table_read(&table, result, &unreadable))
        evaluation->answer = json_deep_copy(result);
    else if (result)
        failure = &unreadable;
    confusion_table_free(&table);
    if (!evaluation->answer)
        snprintf(evaluation->failure, sizeof evaluation->failure, "%s",
                 failure ? failure->text : "out of memory");
    if (!shown)
        ui_say(ui, !evaluation->answer,
               evaluation->answer ? "run %ld: it is known what it confuses" : "run %ld: %s",
               evaluation->run, evaluation->failure);
}

bool confusion_can(const struct ui *ui, enum action action)
{
    const struct evaluation *evaluation = &ui->evaluation;
    int seen, all;
    switch (action) {
    case ACTION_CONFUSION:
        return ui->link == LINK_UP && evaluation->run != 0 && evaluation->asked_run == 0;
    case ACTION_BEST:
        return ui->link == LINK_UP && evaluation->run != 0;
    case ACTION_CURSOR_LEFT:
    case ACTION_CURSOR_RIGHT:
        return confusion_view_columns(ui, &seen, &all);
    default:
        return true;
    }
}

/* By all columns in sight but one. */
static void move_columns(struct ui *ui, int direction)
{
    int seen, all, column = ui->evaluation.column;
    confusion_view_columns(ui, &seen, &all);
    /* On a wider screen than before it may be past the last. */
    column = column > all - seen ? all - seen : column;
    column += direction * (seen > 1 ? seen - 1 : 1);
    column = column > all - seen ? all - seen : column;
    ui->evaluation.column = column > 0 ? column : 0;
}

bool confusion_act(struct ui *ui, enum action action)
{
    if (walk_page(ui, confusion_view_last_line(ui), action))
        return true;
    switch (action) {
    case ACTION_BACK:
        if (ui->evaluation.asked_run == 0)
            return false;
        cancel(ui);
        return true;
    case ACTION_BEST:
        ui->evaluation.best = !ui->evaluation.best;
        ask(ui);
        return true;
    case ACTION_CONFUSION:
        ask(ui);
        return true;
    case ACTION_CURSOR_LEFT:
    case ACTION_CURSOR_RIGHT:
        move_columns(ui, action == ACTION_CURSOR_LEFT ? -1 : 1);
        return true;
    default:
        return false;
    }
}
