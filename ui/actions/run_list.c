/* SPDX-License-Identifier: MIT */
#include "ui/actions/run_list.h"

#include <stdio.h>

#include "ui/actions/views.h"
#include "ui/keys/walk.h"
#include "ui/panels/run_cells.h"
#include "ui/views/runs.h"

/* What keys do in the list of all runs and in the details of one. */

/* The run nearest to one that is gone: the next older one, else the oldest of the newer ones. */
static long neighbour(const struct state *state, long run)
{
    int older = state->run_count - 1;
    while (older >= 0 && state->runs[older].run > run)
        older--;
    if (older >= 0)
        return state->runs[older].run;
    return state->run_count > 0 ? state->runs[0].run : 0;
}

/* Marks of runs that are gone would be counted and never seen. */
static void drop_marks(struct ui *ui)
{
    int kept = 0;
    for (int i = 0; i < ui->mark_count; i++)
        if (state_run(&ui->state, ui->marked[i]))
            ui->marked[kept++] = ui->marked[i];
    ui->mark_count = kept;
}

/* In the list the cursor stays in its line when its run is not there any more. */
static void keep_in_list(struct ui *ui)
{
    int line = run_list_find(&ui->list, &ui->state, ui->selected_run);
    if (line < 0) {
        line = ui->list.at < ui->list.count ? ui->list.at : ui->list.count - 1;
        const struct state_run *run = run_list_run(&ui->list, &ui->state, line);
        ui->selected_run = run ? run->run : 0;
    }
    if (line >= 0)
        ui->list.at = line;
}

void run_list_refresh(struct ui *ui)
{
    struct error err = ERROR_INIT;
    if (ui->state.runs_version != ui->list.seen_version) {
        ui->list.seen_version = ui->state.runs_version;
        drop_marks(ui);
        if ((ui->view == VIEW_RUN || ui->view == VIEW_CONFUSION) && ui->selected_run != 0 &&
            !state_run(&ui->state, ui->selected_run)) {
            ui_say(ui, false, "run %ld is deleted", ui->selected_run);
            ui_go_back(ui);
        }
        if (ui->view != VIEW_RUNS && ui->selected_run != 0 &&
            !state_run(&ui->state, ui->selected_run))
            ui->selected_run = neighbour(&ui->state, ui->selected_run);
    }
    if (ui->view != VIEW_RUNS)
        return;
    if (!run_list_update(&ui->list, &ui->state, &err))
        ui_say(ui, true, "%s", err.text);
    keep_in_list(ui);
}

static void set_filter(struct ui *ui, const char *text)
{
    snprintf(ui->list.filter, sizeof ui->list.filter, "%s", text);
    /* The run that was in focus comes back as soon as it fits again. */
    if (ui->list.apart != 0)
        ui->selected_run = ui->list.apart;
    ui->list.at = 0;
    run_list_refresh(ui);
}

static bool accept_filter(struct ui *ui, const char *text)
{
    set_filter(ui, text);
    ui->list.apart = 0;
    return true;
}

static void leave_filter(struct ui *ui)
{
    set_filter(ui, "");
    ui->list.apart = 0;
}

static const struct prompt filter_prompt = {
    .label = "Filter: ",
    .hint = "words, batch=256, acc>0.9, tag=thesis; Esc: all runs",
    .accept = accept_filter,
    .changed = set_filter,
    .left = leave_filter,
};

static void begin_filter(struct ui *ui)
{
    ui->list.apart = ui->selected_run;
    ui_prompt(ui, &filter_prompt, 0, ui->list.filter);
}

static void sort(struct ui *ui, bool other_way)
{
    const struct run_columns shown = run_columns_wanted(ui);
    if (other_way)
        ui->list.ascending = !ui->list.ascending;
    else
        run_list_next_column(&ui->list, &shown);
    run_list_refresh(ui);
}

static void move(struct ui *ui, enum action action)
{
    int line = run_list_find(&ui->list, &ui->state, ui->selected_run);
    int page = runs_view_lines(ui) > 2 ? runs_view_lines(ui) - 1 : 1;
    const struct state_run *run =
        run_list_run(&ui->list, &ui->state, list_move(line, ui->list.count, page, action));
    ui->selected_run = run ? run->run : 0;
    run_list_refresh(ui);
}

bool run_list_act(struct ui *ui, enum action action)
{
    if (action_walks(action)) {
        move(ui, action);
        return true;
    }
    switch (action) {
    case ACTION_FILTER:
        begin_filter(ui);
        return true;
    case ACTION_SORT:
    case ACTION_REVERSE:
        sort(ui, action == ACTION_REVERSE);
        return true;
    case ACTION_NEXT_METRIC:
        ui->chart.metric = (enum metric)((ui->chart.metric + 1) % METRIC_COUNT);
        return true;
    default:
        return false;
    }
}

bool run_list_can(const struct ui *ui, enum action action)
{
    switch (action) {
    case ACTION_FILTER:
    case ACTION_SORT:
    case ACTION_REVERSE:
        return ui->state.run_count > 0;
    case ACTION_VIEW_RUNS:
        return false; /* this is it */
    default:
        return true;
    }
}

void run_list_pick(struct ui *ui, int line)
{
    const struct state_run *run = run_list_run(&ui->list, &ui->state, line);
    if (run)
        ui->selected_run = run->run;
}

void run_list_pick_title(struct ui *ui, enum run_column column)
{
    if (ui->list.column == column)
        ui->list.ascending = !ui->list.ascending;
    else
        run_list_sort(&ui->list, column);
    run_list_refresh(ui);
}
