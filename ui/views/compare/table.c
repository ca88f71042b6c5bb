/* SPDX-License-Identifier: MIT */
#include "ui/views/compare/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/figure.h"
#include "ui/panels/run_cells.h"

/* One line for each number of devices, a title above each series. */

enum {
    DEVICES,
    NUMBER,
    BATCH,
    LR,
    S_PER_EPOCH,
    SPEED,
    SPEED_UP,
    EFFICIENCY,
    TEST_ACC,
    TARGET,
    CHANGE,
    STATUS,
    COLUMNS
};

/* At 80 columns all are there; a shorter screen gives up first what the title says anyway. */
static const struct list_column columns[COLUMNS] = {
    [DEVICES] = {"devices", 7, 8, true, 0},     [NUMBER] = {"run", 3, 6, true, 3},
    [BATCH] = {"batch", 5, 8, true, 9},         [LR] = {"lr", 5, 8, true, 8},
    [S_PER_EPOCH] = {"s/epoch", 7, 9, true, 7}, [SPEED] = {"samples/s", 9, 0, true, 2},
    [SPEED_UP] = {"speed-up", 8, 9, true, 0},   [EFFICIENCY] = {"eff.", 5, 10, true, 0},
    [TEST_ACC] = {"test acc", 8, 0, true, 1},   [TARGET] = {NULL, 8, 9, true, 6},
    [CHANGE] = {"change", 6, 8, true, 5},       [STATUS] = {"status", 7, 12, false, 4},
};

const char *compare_mark(struct figure *figure, const struct outcome *outcome)
{
    size_t length = strlen(figure->text);
    if (outcome->warm_up && figure->text[0] != '-' && length + 1 < sizeof figure->text)
        strcpy(figure->text + length, "*");
    return figure->text;
}

static const char *change_text(struct figure *figure, const struct series *series,
                               const struct series_row *row)
{
    if (series->base >= 0 && row == &series->rows[series->base])
        return "base";
    return figure_accuracy_change(figure, row->outcome.accuracy_change);
}

static const char *target_text(struct figure *figure, const struct outcome *outcome)
{
    return outcome->target_s.count == 0 && outcome->target_runs > 0
               ? "never"
               : figure_seconds(figure, outcome->target_s.median);
}

static void draw_row(const struct ui *ui, const struct series *series, const struct series_row *row,
                     struct surface *surface, struct rect area, int y,
                     const struct column_place *places)
{
    const struct state_run *run = state_run(&ui->state, row->run.run);
    enum run_status status = run ? run->status : RUN_UNKNOWN;
    const struct outcome *outcome = &row->outcome;
    struct figure f[COLUMNS];
    figure_seconds(&f[S_PER_EPOCH], outcome->s_per_epoch.median);
    figure_count(&f[SPEED], outcome->samples_per_s.median);
    char number[24];
    const char *text[COLUMNS] = {
        [DEVICES] = figure_whole(&f[DEVICES], row->run.devices),
        [NUMBER] = number,
        [BATCH] = figure_whole(&f[BATCH], row->run.batch),
        [LR] = figure_digits(&f[LR], row->run.lr, 4),
        [S_PER_EPOCH] = compare_mark(&f[S_PER_EPOCH], outcome),
        [SPEED] = compare_mark(&f[SPEED], outcome),
        [SPEED_UP] = figure_times(&f[SPEED_UP], outcome->speed_up),
        [EFFICIENCY] = figure_efficiency(&f[EFFICIENCY], outcome->efficiency),
        [TEST_ACC] = figure_fixed(&f[TEST_ACC], outcome->test_acc.mean, 3),
        [TARGET] = target_text(&f[TARGET], outcome),
        [CHANGE] = change_text(&f[CHANGE], series, row),
        [STATUS] = run_status_name(status),
    };
    snprintf(number, sizeof number, "%ld", row->run.run);
    for (int i = 0; i < COLUMNS; i++) {
        enum style style = STYLE_NORMAL;
        if (i == STATUS)
            style = run_status_style(status);
        else if (i == SPEED_UP || i == EFFICIENCY)
            style = STYLE_STRONG;
        else if (i == NUMBER && row->run.run == ui->state.live.run)
            style = STYLE_SERIES;
        list_cell(surface, area, y, &columns[i], &places[i], style, text[i]);
    }
    if (ui_is_marked(ui, row->run.run))
        surface_put(surface, y, area.x, '*', STYLE_SERIES_MARKED);
}

static const struct titles {
    const char *strong, *way, *weak;
} titles[STRATEGIES] = {
    [STRATEGY_DATA] = {"Strong scaling", ", divided among the devices", "Weak scaling"},
    [STRATEGY_PIPELINE] = {"Pipeline", ", each device a stage", "Pipeline, weak scaling"},
    [STRATEGY_TENSOR] = {"Tensor parallel", ", each device a part of every layer",
                         "Tensor parallel, weak scaling"},
    [STRATEGY_MIXED] = {"Mixed", ", each device a part of the rows and of linear layers",
                        "Mixed, weak scaling"},
};

static void draw_title(const struct series *series, struct surface *surface, struct rect area,
                       int y)
{
    struct figure batch, lr;
    const struct titles *title = &titles[series->strategy];
    if (series->scaling == SCALING_STRONG)
        surface_format(surface, y, area.x, area.w, STYLE_STRONG, "%s: batch %s, lr %s on all%s",
                       title->strong, figure_whole(&batch, series->batch),
                       figure_digits(&lr, series->lr, 4), title->way);
    else
        surface_format(surface, y, area.x, area.w, STYLE_STRONG,
                       "%s: batch %s and lr %s for each device", title->weak,
                       figure_digits(&batch, series->batch, 4), figure_digits(&lr, series->lr, 4));
}

int compare_table_rows(const struct comparison *comparison)
{
    return 1 + comparison->count + comparison_lines(comparison);
}

/* The time to an accuracy is there when one was given. */
static void place_columns(int width, bool target, struct column_place *places)
{
    struct list_column shown[COLUMNS];
    memcpy(shown, columns, sizeof columns);
    shown[TARGET].title = target ? "" : NULL;
    columns_place(shown, COLUMNS, width, places);
}

static void draw_heading(const struct ui *ui, const struct comparison *comparison,
                         struct surface *surface, struct rect area,
                         const struct column_place *places)
{
    bool validated = false;
    for (int i = 0; i < comparison->count; i++)
        validated |= series_validated(&comparison->series[i]);
    char target[24];
    snprintf(target, sizeof target, "to %g", ui->compare.target_acc);
    for (int i = 0; i < COLUMNS; i++) {
        bool room = i == EFFICIENCY && places[i].w >= 10;
        list_cell(surface, area, area.y, &columns[i], &places[i], STYLE_LABEL,
                  i == TARGET                  ? target
                  : room                       ? "efficiency"
                  : i == TEST_ACC && validated ? "val acc"
                                               : columns[i].title);
    }
}

/* Where a line stands below the headings when the titles above it are counted; 0 for none. */
static int row_of_line(const struct comparison *comparison, int line)
{
    int row = line, before = 0;
    for (int i = 0; i < comparison->count && before <= line; i++) {
        row++;
        before += comparison->series[i].count;
    }
    return line < 0 ? 0 : row;
}

void compare_table_draw(const struct ui *ui, const struct comparison *comparison,
                        struct surface *surface, struct rect area)
{
    struct column_place places[COLUMNS] = {{0, 0}};
    int focus = comparison_line(ui, comparison), at = 0, line = 0;
    int all = compare_table_rows(comparison) - 1, visible = area.h - 1;
    /* A row for what is left, where the table is cut. */
    if (all > visible && visible > 5)
        visible--;
    int first = list_scroll(row_of_line(comparison, focus), all, visible);
    place_columns(area.w, isfinite(ui->compare.target_acc), places);
    draw_heading(ui, comparison, surface, area, places);
    for (int i = 0; i < comparison->count; i++) {
        const struct series *series = &comparison->series[i];
        if (at >= first && at < first + visible)
            draw_title(series, surface, area, area.y + 1 + at - first);
        at++;
        for (int j = 0; j < series->count; j++, at++, line++) {
            int y = area.y + 1 + at - first;
            if (at < first || at >= first + visible)
                continue;
            draw_row(ui, series, &series->rows[j], surface, area, y, places);
            surface_mark_line(surface, y, area.x, area.w, line);
            if (line == focus)
                surface_restyle(surface, y, area.x, area.w, STYLE_CURSOR);
        }
    }
    const int below = all - first - visible;
    if (below > 0 && visible < area.h - 1)
        surface_format(surface, area.y + area.h - 1, area.x, area.w, STYLE_LABEL,
                       "%d more line%s below", below, plural(below));
}
