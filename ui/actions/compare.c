/* SPDX-License-Identifier: MIT */
#include "ui/actions/compare.h"

#include <math.h>

#include "base/figure.h"
#include "base/text.h"
#include "ui/actions/sweep.h"
#include "ui/keys/walk.h"
#include "ui/session/grid.h"

/* What keys do in the compare view. */

enum { PAGE = 10 };

bool compare_can(const struct ui *ui, enum action action)
{
    struct comparison comparison;
    switch (action) {
    case ACTION_SWEEP:
        return ui->link == LINK_UP && !ui->compare.submitting;
    case ACTION_NEXT_METRIC:
        if (grid_is_shown(ui))
            return true;
        comparison_make(ui, &comparison);
        return comparison_says_something(&comparison);
    default:
        return true;
    }
}

static bool move_in_grid(struct ui *ui, enum action action)
{
    struct grid grid;
    if (!grid_make(ui, &grid))
        return false;
    int line = grid_line(ui, &grid), lines = grid.table.count;
    if (lines > 0) {
        ui->line = line < 0 && action == ACTION_DOWN ? 0 : list_move(line, lines, PAGE, action);
        ui->selected_run = grid_run(&grid, ui->line);
    }
    return true;
}

static void move(struct ui *ui, enum action action)
{
    struct comparison comparison;
    if (move_in_grid(ui, action))
        return;
    comparison_make(ui, &comparison);
    int lines = comparison_lines(&comparison), line = comparison_line(ui, &comparison);
    if (lines == 0)
        return;
    ui->line = line < 0 && action == ACTION_DOWN ? 0 : list_move(line, lines, PAGE, action);
    ui->selected_run = comparison_row(&comparison, ui->line, NULL)->run.run;
}

static void next_metric(struct ui *ui)
{
    bool grid = grid_is_shown(ui);
    enum compare_metric *metric = grid ? &ui->compare.grid_metric : &ui->compare.metric;
    do
        *metric = (enum compare_metric)((*metric + 1) % COMPARE_METRICS);
    while (grid && *metric == COMPARE_EFFICIENCY);
    if (*metric == COMPARE_TARGET && isnan(ui->compare.target_acc))
        *metric = (enum compare_metric)0;
}

static void show_target(enum compare_metric *metric, bool there, enum compare_metric otherwise)
{
    if (there)
        *metric = COMPARE_TARGET;
    else if (*metric == COMPARE_TARGET)
        *metric = otherwise;
}

/* The page then has the time to it as a column, and the chart shows it. */
static bool accept_target(struct ui *ui, const char *text)
{
    double target = NAN;
    if (text[0] && !parse_double(text, 0, 1, &target))
        return ui_say(ui, true, "'%.40s' is no accuracy: a number from 0 to 1, or nothing", text);
    ui->compare.target_acc = target;
    show_target(&ui->compare.metric, isfinite(target), (enum compare_metric)0);
    show_target(&ui->compare.grid_metric, isfinite(target), COMPARE_ACCURACY);
    return true;
}

static const struct prompt target_prompt = {
    .label = "Seconds of training to test accuracy ",
    .hint = "0 to 1; empty: do not measure it",
    .accept = accept_target,
};

static void ask_target(struct ui *ui)
{
    struct figure text = {""};
    if (isfinite(ui->compare.target_acc))
        figure_digits(&text, ui->compare.target_acc, 6);
    ui_prompt(ui, &target_prompt, 0, text.text);
}

bool compare_act(struct ui *ui, enum action action)
{
    if (action_walks(action)) {
        move(ui, action);
        return true;
    }
    switch (action) {
    case ACTION_NEXT_METRIC:
        next_metric(ui);
        return true;
    case ACTION_TARGET:
        ask_target(ui);
        return true;
    case ACTION_SWEEP:
        sweep_ask(ui);
        return true;
    case ACTION_STOP:
        return sweep_ask_drop(ui, ui->selected_run);
    default:
        return false;
    }
}

static void pick_run(struct ui *ui, int line, long run)
{
    if (run == 0)
        return;
    ui->line = line;
    ui->selected_run = run;
}

void compare_pick(struct ui *ui, int line)
{
    struct comparison comparison;
    struct grid grid;
    if (grid_make(ui, &grid)) {
        pick_run(ui, line, grid_run(&grid, line));
        return;
    }
    comparison_make(ui, &comparison);
    const struct series_row *row = comparison_row(&comparison, line, NULL);
    pick_run(ui, line, row ? row->run.run : 0);
}

/*
 * A run that the present comparison shows does not change it: coming back from the details of a
 * row finds the table as it was.
 */
void compare_opened(struct ui *ui)
{
    struct comparison comparison;
    long wanted = ui->mark_count > 0 ? ui->marked[0] : ui->selected_run;
    if (!state_run(&ui->state, wanted))
        return;
    comparison_make(ui, &comparison);
    for (int i = 0; i < comparison_lines(&comparison) && !grid_is_shown(ui); i++)
        if (comparison_row(&comparison, i, NULL)->run.run == wanted)
            return;
    ui->compare.anchor = wanted;
}
