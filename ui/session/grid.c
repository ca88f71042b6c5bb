/* SPDX-License-Identifier: MIT */
#include "ui/session/grid.h"

#include <math.h>
#include <string.h>

#include "ui/session/ui.h"

static enum study_state state_of(const struct state_run *run)
{
    switch (run->status) {
    case RUN_DONE:
        return STUDY_DONE;
    case RUN_RUNNING:
    case RUN_PAUSED:
        return STUDY_RUNNING;
    case RUN_QUEUED:
    case RUN_LOST:
        return STUDY_WAITING;
    default: /* nobody trains it again */
        return STUDY_FAILED;
    }
}

static void add_run(struct grid *grid, const struct state_run *run, const struct noted_run *noted)
{
    int known = grid->study.variant_count, variant = noted_variant(&grid->study, noted);
    if (variant < 0)
        return;
    if (grid->count == GRID_RUNS) {
        grid->study.variant_count = known;
        grid->more = true;
        return;
    }
    memcpy(grid->value[variant], noted->value, sizeof noted->value);
    struct study_variant *of = &grid->study.variants[variant];
    of->devices = run->device_count;
    enum study_state state = state_of(run);
    grid->entry[grid->count] = (struct study_entry){.variant = variant, .state = state};
    grid->measured[grid->count] = (struct study_run){
        .variant = variant,
        .state = state == STUDY_DONE && run->measure.count == 0 ? STUDY_WAITING : state,
        .measure = run->measure,
        .wall_s = run->ended_at - run->started_at};
    grid->run[grid->count++] = run;
}

/* Of one study, whose runs have the same beginning of their notes. */
static void add_runs(const struct ui *ui, struct grid *grid)
{
    for (int i = 0; i < ui->state.run_count; i++) {
        const struct state_run *run = &ui->state.runs[i];
        struct noted_run noted;
        if (study_is_same(grid->anchor->note, run->note) && noted_read(&noted, run->note))
            add_run(grid, run, &noted);
    }
    grid->study.entries = grid->entry;
    grid->study.entry_count = grid->count;
    for (int i = 0; i < grid->study.variant_count; i++) {
        int runs = grid_line_runs(grid, i);
        grid->study.repeats = runs > grid->study.repeats ? runs : grid->study.repeats;
    }
}

bool grid_is_shown(const struct ui *ui)
{
    const struct state_run *anchor = comparison_anchor(ui);
    struct noted_run noted;
    return anchor && noted_read(&noted, anchor->note);
}

bool grid_make(const struct ui *ui, struct grid *grid)
{
    struct error ignored = ERROR_INIT;
    if (!grid_is_shown(ui))
        return false;
    *grid = (struct grid){.anchor = comparison_anchor(ui)};
    grid->study.target_acc = ui->compare.target_acc;
    add_runs(ui, grid);
    if (!study_tabulate(&grid->study, grid->measured, &grid->table, &ignored))
        grid->table.count = 0;
    return true;
}

void grid_want(struct ui *ui, void (*want)(struct ui *ui, long run))
{
    struct grid grid;
    if (!grid_make(ui, &grid))
        return;
    for (int i = 0; i < grid.count; i++)
        want(ui, grid.run[i]->run);
}

int grid_line(const struct ui *ui, const struct grid *grid)
{
    for (int i = 0; i < grid->count; i++)
        if (grid->run[i]->run == ui->selected_run)
            return grid->entry[i].variant;
    return -1;
}

long grid_run(const struct grid *grid, int line)
{
    long first = 0;
    for (int i = 0; i < grid->count; i++) {
        if (grid->entry[i].variant == line && !run_has_ended(grid->run[i]))
            return grid->run[i]->run;
        if (grid->entry[i].variant == line && first == 0)
            first = grid->run[i]->run;
    }
    return first;
}

int grid_line_runs(const struct grid *grid, int line)
{
    int runs = 0;
    for (int i = 0; i < grid->count; i++)
        runs += grid->entry[i].variant == line;
    return runs;
}

double grid_seconds_left(const struct ui *ui, const struct grid *grid)
{
    bool ours = false;
    for (int i = 0; i < grid->count; i++)
        ours |= grid->run[i]->run == ui->state.live.run;
    return study_seconds_left(&grid->study, grid->measured, ours ? ui->state.live.eta_s : NAN);
}
