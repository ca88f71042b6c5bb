/* SPDX-License-Identifier: MIT */
#include "ui/views/compare/grid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/figure.h"
#include "experiment/sentence.h"
#include "ui/draw/list.h"
#include "ui/session/sweep.h"
#include "ui/views/compare/grid_chart.h"
#include "ui/views/compare/table.h"

enum {
    FIRST,
    SECOND,
    RUNS,
    S_PER_EPOCH,
    S_RANGE,
    SPEED,
    SPEED_RANGE,
    SPEED_UP,
    TEST_ACC,
    ACC_RANGE,
    TARGET,
    COLUMNS
};

enum { VALUE_WIDTH = 6, CHART_LEAST = 7, NOTE_ROWS = 4 };

static const struct list_column plain[COLUMNS] = {
    [FIRST] = {NULL, VALUE_WIDTH, 0, true, 0}, [SECOND] = {NULL, VALUE_WIDTH, 0, true, 0},
    [RUNS] = {"runs", 4, 8, true, 6},          [S_PER_EPOCH] = {"s/epoch", 7, 9, true, 5},
    [S_RANGE] = {"range", 11, 0, true, 8},     [SPEED] = {"samples/s", 9, 0, true, 0},
    [SPEED_RANGE] = {"range", 11, 0, true, 7}, [SPEED_UP] = {"speed-up", 8, 9, true, 3},
    [TEST_ACC] = {"test acc", 8, 0, true, 0},  [ACC_RANGE] = {"range", 11, 0, true, 1},
    [TARGET] = {NULL, 8, 9, true, 2},
};

/* Those that there are, with their titles: `target` is the last one's. */
static void choose_columns(const struct ui *ui, const struct grid *grid,
                           struct list_column *columns, char *target, size_t size)
{
    memcpy(columns, plain, sizeof plain);
    for (int i = 0; i < grid->study.varied_count; i++) {
        columns[i].title = grid->study.varied[i];
        for (int j = -1; j < grid->study.variant_count; j++) {
            int width = text_columns(j < 0 ? grid->study.varied[i] : grid->value[j][i]);
            columns[i].width = width > columns[i].width ? width : columns[i].width;
        }
    }
    if (study_validated(&grid->table))
        columns[TEST_ACC].title = "val acc";
    snprintf(target, size, "to %g", ui->compare.target_acc);
    columns[TARGET].title = isfinite(ui->compare.target_acc) ? target : NULL;
}

static void draw_row(const struct grid *grid, int line, struct surface *surface, struct rect area,
                     int y, const struct list_column *columns, const struct column_place *places)
{
    const struct study_row *row = &grid->table.rows[line];
    const struct outcome *outcome = &row->outcome;
    struct figure seconds, speed, up, accuracy, target;
    char runs[32], s_range[48], speed_range[48], acc_range[48];
    snprintf(runs, sizeof runs, "%d/%d", row->done, grid_line_runs(grid, line));
    figure_seconds(&seconds, outcome->s_per_epoch.median);
    figure_count(&speed, outcome->samples_per_s.median);
    const char *text[COLUMNS] = {
        [FIRST] = grid->value[line][0],
        [SECOND] = grid->value[line][1],
        [RUNS] = runs,
        [S_PER_EPOCH] = compare_mark(&seconds, outcome),
        [S_RANGE] = spread_range(&outcome->s_per_epoch, figure_seconds, s_range, sizeof s_range),
        [SPEED] = compare_mark(&speed, outcome),
        [SPEED_RANGE] =
            spread_range(&outcome->samples_per_s, figure_count, speed_range, sizeof speed_range),
        [SPEED_UP] = figure_times(&up, outcome->speed_up),
        [TEST_ACC] = figure_accuracy(&accuracy, outcome->test_acc.mean),
        [ACC_RANGE] =
            spread_range(&outcome->test_acc, figure_accuracy, acc_range, sizeof acc_range),
        [TARGET] = outcome->target_s.count == 0 && outcome->target_runs > 0
                       ? "never"
                       : figure_seconds(&target, outcome->target_s.median),
    };
    for (int i = 0; i < COLUMNS; i++)
        list_cell(surface, area, y, &columns[i], &places[i],
                  i == TEST_ACC ? STYLE_STRONG : STYLE_NORMAL, text[i]);
}

static void draw_table(const struct ui *ui, const struct grid *grid, struct surface *surface,
                       struct rect area)
{
    struct list_column columns[COLUMNS];
    struct column_place places[COLUMNS];
    char target[24];
    int focus = grid_line(ui, grid), visible = area.h - 1;
    int first = list_scroll(focus < 0 ? 0 : focus, grid->table.count, visible);
    choose_columns(ui, grid, columns, target, sizeof target);
    columns_place(columns, COLUMNS, area.w, places);
    for (int i = 0; i < COLUMNS; i++)
        list_cell(surface, area, area.y, &columns[i], &places[i], STYLE_LABEL, columns[i].title);
    for (int i = first; i < grid->table.count && i < first + visible; i++) {
        int y = area.y + 1 + i - first;
        draw_row(grid, i, surface, area, y, columns, places);
        surface_mark_line(surface, y, area.x, area.w, i);
        if (i == focus)
            surface_restyle(surface, y, area.x, area.w, STYLE_CURSOR);
    }
}

/* What is done of it, while it is not all. */
static void write_progress(const struct ui *ui, const struct grid *grid, char *buffer, size_t size)
{
    int done = 0, waiting = 0;
    const struct state_run *live = NULL;
    char now[128] = "", until[64] = "";
    struct figure left;
    double seconds = grid_seconds_left(ui, grid);
    for (int i = 0; i < grid->count; i++) {
        done += run_has_ended(grid->run[i]);
        waiting += grid->run[i]->status == RUN_QUEUED;
        if (grid->run[i]->run == ui->state.live.run)
            live = grid->run[i];
    }
    buffer[0] = '\0';
    if (ui->compare.submitting)
        snprintf(buffer, size, "Sweep: %d of %d runs are in the queue", ui->compare.taken,
                 sweep_runs(ui));
    if (ui->compare.submitting || (!live && waiting == 0))
        return;
    if (live)
        snprintf(now, sizeof now, ", run %ld %s", live->run,
                 ui->state.live.status == RUN_PAUSED ? "paused" : "trains");
    if (isfinite(seconds))
        snprintf(until, sizeof until, "; about %s left", figure_duration(&left, seconds));
    snprintf(buffer, size, "Sweep: %d of %d done%s, %d wait%s%s", done, grid->count, now, waiting,
             waiting == 1 ? "s" : "", until);
}

/* A paragraph at the top of *area, which loses its rows. */
static void put_note(struct surface *surface, struct rect *area, enum style style, const char *text)
{
    int rows = paragraph_rows(text, area->w);
    rows = rows < NOTE_ROWS ? rows : NOTE_ROWS;
    if (text[0] == '\0' || rows > area->h)
        return;
    surface_paragraph(surface, (struct rect){area->y, area->x, rows, area->w}, style, text);
    area->y += rows;
    area->h -= rows;
}

static void put_notes(const struct ui *ui, const struct grid *grid, struct surface *surface,
                      struct rect *area)
{
    char text[600];
    put_note(surface, area, STYLE_NORMAL, sentence_of_study(&grid->table, text, sizeof text));
    if (grid->table.warm_up)
        put_note(surface, area, STYLE_LABEL, "* a single epoch, which is warm-up");
    if (grid->more)
        put_note(surface, area, STYLE_WARNING,
                 "It has more runs than can be shown here: 'dpartui compare --show' counts all");
    write_progress(ui, grid, text, sizeof text);
    put_note(surface, area, STYLE_GOOD, text);
}

bool compare_grid_draw(const struct ui *ui, const struct grid *grid, struct surface *surface,
                       struct rect area, struct error *err)
{
    const struct state_run *anchor = grid->anchor;
    struct figure title;
    int table = grid->table.count + 1;
    surface_format(surface, area.y++, area.x, area.w, STYLE_LABEL, "%.*s: %s; %s on %s, %s",
                   (int)strcspn(anchor->note, ":"), anchor->note, study_title(&grid->study, &title),
                   anchor->model, anchor->data, anchor->devices);
    if (--area.h <= 1)
        return true;
    if (table > area.h - CHART_LEAST && area.h - CHART_LEAST >= 5)
        table = area.h - CHART_LEAST;
    table = table < area.h ? table : area.h;
    draw_table(ui, grid, surface, (struct rect){area.y, area.x, table, area.w});
    area.y += table;
    area.h -= table;
    put_notes(ui, grid, surface, &area);
    return area.h < CHART_LEAST || compare_grid_chart_draw(ui, grid, surface, area, err);
}

void compare_grid_hint(const struct ui *ui, const struct grid *grid, char *buffer, size_t size)
{
    int line = grid_line(ui, grid);
    if (line >= 0)
        snprintf(buffer, size, "%s: run %ld%s; c: another metric", grid->study.variants[line].label,
                 grid_run(grid, line), grid_line_runs(grid, line) > 1 ? " and others" : "");
    else
        snprintf(buffer, size, "c: another metric; ranges are over the runs");
}
