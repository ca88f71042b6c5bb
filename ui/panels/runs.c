/* SPDX-License-Identifier: MIT */
#include "ui/panels/runs.h"

#include <stdio.h>

#include "ui/panels/run_cells.h"

/* The dashboard's list of runs: the running one, then the newest first. Columns without a width are
 * not in it. */
static const struct list_column all_columns[RUN_COLUMNS] = {
    [RUN_COLUMN_NUMBER] = {"Runs", 4, 5, true, 0},
    [RUN_COLUMN_MODEL] = {"model", 9, 16, false, 8},
    [RUN_COLUMN_DATA] = {"data", 13, 20, false, 9},
    [RUN_COLUMN_ROWS] = {"rows", 4, 0, true, 6},
    [RUN_COLUMN_DEVICES] = {"devices", 9, 16, false, 4},
    [RUN_COLUMN_STRATEGY] = {"strategy", 8, 0, false, 6},
    [RUN_COLUMN_BATCH] = {"batch", 5, 7, true, 5},
    [RUN_COLUMN_LR] = {"lr", 5, 7, true, 5},
    [RUN_COLUMN_EPOCHS] = {"epochs", 7, 9, true, 7},
    [RUN_COLUMN_TEST_ACC] = {"test acc", 8, 0, true, 0},
    [RUN_COLUMN_BEST_ACC] = {"best acc", 8, 0, true, 10},
    [RUN_COLUMN_S_PER_EPOCH] = {"s/epoch", 7, 8, true, 3},
    [RUN_COLUMN_SPEED] = {"samples/s", 9, 0, true, 2},
    [RUN_COLUMN_SPEED_UP] = {"speed-up", 9, 12, true, 2},
    [RUN_COLUMN_ENERGY] = {"J/epoch", 7, 8, true, 13},
    [RUN_COLUMN_STATUS] = {"status", 11, 0, false, 1},
    [RUN_COLUMN_SPLIT] = {"split", 8, 12, false, 11},
    [RUN_COLUMN_SYNC] = {"sync", 9, 16, false, 12},
};

static int end_of_title(const struct column_place *places, int column)
{
    return all_columns[column].right ? places[column].x + places[column].w
                                     : places[column].x + text_columns(all_columns[column].title);
}

/* The columns between a title and the next one. */
static int room_after_title(const struct column_place *places, int width, int column)
{
    int next = width + 1;
    for (int i = 0; i < RUN_COLUMNS; i++)
        if (places[i].w > 0 && places[i].x > places[column].x && places[i].x < next) {
            next = places[i].x;
            /* A title at the right leaves blanks before it. */
            if (all_columns[i].right)
                next += places[i].w - text_columns(all_columns[i].title);
        }
    return next - 1 - (end_of_title(places, column) + 1);
}

static bool put_after_title(struct surface *surface, struct rect area,
                            const struct column_place *places, int column, const char *text)
{
    const int length = text_columns(text);
    if (places[column].w <= 0 || room_after_title(places, area.w, column) < length)
        return false;
    surface_text(surface, area.y, area.x + end_of_title(places, column) + 1, length, STYLE_NORMAL,
                 text);
    return true;
}

/* Which part of a longer list is shown: after its name, where it is in nobody's way, or else after
 * the title of a left-aligned column that leaves room for it. */
static void draw_position(struct surface *surface, struct rect area,
                          const struct column_place *places, int first, int last, int count)
{
    char texts[3][40];
    snprintf(texts[0], sizeof texts[0], "%d-%d of %d", first, last, count);
    snprintf(texts[1], sizeof texts[1], "%d-%d/%d", first, last, count);
    snprintf(texts[2], sizeof texts[2], "%d/%d", last, count);
    for (int i = RUN_COLUMN_NUMBER; i < RUN_COLUMNS; i++)
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
            if ((i == RUN_COLUMN_NUMBER || !all_columns[i].right) &&
                put_after_title(surface, area, places, i, texts[k]))
                return;
}

/* Which lines of the list are on the screen: `pinned` ones of its top, then those from `first` on.
 */
struct window {
    int pinned, first, end;
};

/* The running run, which is the first one, never leaves. */
static struct window window_of(const struct ui *ui, int line, int count, int visible)
{
    struct window window = {.pinned = visible > 1 && count > visible &&
                                      state_run(&ui->state, ui->state.live.run)};
    window.first = window.pinned + list_scroll(line - window.pinned, count - window.pinned,
                                               visible - window.pinned);
    window.end = window.first + visible - window.pinned;
    window.end = window.end < count ? window.end : count;
    return window;
}

bool panel_runs(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    struct list_column columns[RUN_COLUMNS];
    struct column_place places[RUN_COLUMNS];
    int count = ui->state.run_count, visible = area.h - 1;
    int line = ui_line_of_run(ui, ui->selected_run);
    const struct window window = window_of(ui, line, count, visible);
    (void)err;
    run_columns_choose(ui, all_columns, false, columns);
    columns_place(columns, RUN_COLUMNS, area.w, places);
    panel_heading(ui, surface, area, PANEL_RUNS, columns, places, RUN_COLUMNS);
    if (count == 0 && visible > 0)
        surface_text(surface, area.y + 1, area.x, area.w, STYLE_LABEL,
                     ui->link == LINK_UP ? "none yet" : "");
    if (count > visible && visible > 0)
        draw_position(surface, area, places, window.first + 1, window.end, count);
    for (int i = 0; i < window.pinned + window.end - window.first; i++) {
        int at = i < window.pinned ? i : window.first + i - window.pinned, y = area.y + 1 + i;
        run_row(ui, surface, area, y, columns, places, ui_run_line(ui, at));
        surface_mark_line(surface, y, area.x, area.w, at);
        if (at == line && panel_focused(ui, PANEL_RUNS))
            surface_restyle(surface, y, area.x, area.w, STYLE_CURSOR);
    }
    return true;
}
