/* SPDX-License-Identifier: MIT */
#include "ui/panels/panels.h"

#include <math.h>
#include <stdio.h>

#include "ui/format.h"

enum {
    NUMBER,
    MODEL,
    DATA,
    DEVICES,
    BATCH,
    LR,
    EPOCHS,
    TEST_ACC,
    BEST_ACC,
    S_PER_EPOCH,
    SPEED,
    SPEED_UP,
    STATUS,
    SPLIT,
    SYNC,
    COLUMNS
};

static const struct list_column columns[COLUMNS] = {
    [NUMBER] = {"Runs", 4, 5, true, 0},        [MODEL] = {"model", 9, 16, false, 8},
    [DATA] = {"data", 13, 20, false, 9},       [DEVICES] = {"devices", 9, 16, false, 4},
    [BATCH] = {"batch", 5, 7, true, 5},        [LR] = {"lr", 5, 7, true, 6},
    [EPOCHS] = {"epochs", 7, 9, true, 7},      [TEST_ACC] = {"test acc", 8, 0, true, 0},
    [BEST_ACC] = {"best acc", 8, 0, true, 10}, [S_PER_EPOCH] = {"s/epoch", 7, 8, true, 3},
    [SPEED] = {"samples/s", 9, 0, true, 2},    [SPEED_UP] = {"speed-up", 8, 0, true, 2},
    [STATUS] = {"status", 11, 0, false, 1},    [SPLIT] = {"split", 8, 12, false, 11},
    [SYNC] = {"sync", 9, 16, false, 12},
};

static enum style status_style(enum run_status status)
{
    switch (status) {
    case RUN_RUNNING:
        return STYLE_GOOD;
    case RUN_PAUSED:
    case RUN_STOPPED:
    case RUN_INTERRUPTED:
        return STYLE_WARNING;
    case RUN_FAILED:
        return STYLE_BAD;
    default:
        return STYLE_LABEL;
    }
}

static double speed_up(const struct state *state, const struct state_run *run)
{
    const struct state_run *first = state_first_like(state, run);

    return first != NULL ? run->samples_per_s / first->samples_per_s : NAN;
}

static void epochs_text(const struct state_run *run, char *buffer, size_t size)
{
    struct figure done, all;
    double so_far = isfinite(run->epochs_done) ? run->epochs_done : 0;

    if (so_far == run->epochs)
        snprintf(buffer, size, "%s", figure_whole(&all, run->epochs));
    else
        snprintf(buffer, size, "%s/%s", figure_whole(&done, so_far),
                 figure_whole(&all, run->epochs));
}

static void draw_run(const struct ui *ui, struct surface *surface, struct rect area, int y,
                     const struct column_place *places, const struct state_run *run)
{
    struct figure f[COLUMNS];
    char number[24], epochs[80];
    const char *text[COLUMNS] = {
        [NUMBER] = number,
        [MODEL] = run->model,
        [DATA] = run->data,
        [DEVICES] = run->devices,
        [BATCH] = figure_whole(&f[BATCH], run->batch),
        [LR] = figure_short(&f[LR], run->lr),
        [EPOCHS] = epochs,
        [TEST_ACC] = figure_fixed(&f[TEST_ACC], run->test_acc, 3),
        [BEST_ACC] = figure_fixed(&f[BEST_ACC], run->best_test_acc, 3),
        [S_PER_EPOCH] = figure_count(&f[S_PER_EPOCH], run->s_per_epoch),
        [SPEED] = figure_count(&f[SPEED], run->samples_per_s),
        [SPEED_UP] = figure_times(&f[SPEED_UP], speed_up(&ui->state, run)),
        [STATUS] = run_status_name(run->status),
        [SPLIT] = run->split,
        [SYNC] = run->sync,
    };

    snprintf(number, sizeof number, "%ld", run->run);
    epochs_text(run, epochs, sizeof epochs);
    for (int i = 0; i < COLUMNS; i++) {
        enum style style = STYLE_NORMAL;

        if (i == STATUS)
            style = status_style(run->status);
        else if (i == NUMBER && run->run == ui->state.live.run)
            style = STYLE_SERIES;
        else if (i == NUMBER && run->run == ui->selected_run)
            style = STYLE_SERIES_MARKED;
        list_cell(surface, area, y, &columns[i], &places[i], style, text[i]);
    }
}

bool panel_runs(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    struct column_place places[COLUMNS];
    int count = ui->state.run_count, visible = area.h - 1, line = -1;

    (void)err;
    columns_place(columns, COLUMNS, area.w, places);
    panel_heading(ui, surface, area, PANEL_RUNS, columns, places, COLUMNS);
    if (count == 0)
        surface_text(surface, area.y + 1, area.x, area.w, STYLE_LABEL,
                     ui->link == LINK_UP ? "none yet" : "");
    for (int i = 0; ui->selected_run != 0 && i < count && line < 0; i++)
        if (ui_run_line(ui, i)->run == ui->selected_run)
            line = i;
    int first = list_scroll(line, count, visible);
    for (int i = first; i < count && i < first + visible; i++) {
        int y = area.y + 1 + i - first;

        draw_run(ui, surface, area, y, places, ui_run_line(ui, i));
        if (i == line && panel_focused(ui, PANEL_RUNS))
            surface_restyle(surface, y, area.x, area.w, STYLE_CURSOR);
    }
    return true;
}
