/* SPDX-License-Identifier: MIT */
#include "ui/panels/runs.h"

#include "ui/panels/run_cells.h"

/* The dashboard's list of runs, the newest first. Columns without a width are not in it. */
static const struct list_column all_columns[RUN_COLUMNS] = {
    [RUN_COLUMN_NUMBER] = {"Runs", 4, 5, true, 0},
    [RUN_COLUMN_MODEL] = {"model", 9, 16, false, 8},
    [RUN_COLUMN_DATA] = {"data", 13, 20, false, 9},
    [RUN_COLUMN_ROWS] = {"rows", 8, 11, true, 4},
    [RUN_COLUMN_DEVICES] = {"devices", 9, 16, false, 4},
    [RUN_COLUMN_BATCH] = {"batch", 5, 7, true, 5},
    [RUN_COLUMN_LR] = {"lr", 5, 7, true, 6},
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

/* Which part of a longer list is shown, in place of a title that its column can do without. */
static void draw_position(struct surface *surface, struct rect area,
                          const struct column_place *places, int first, int visible, int count)
{
    const struct column_place *place = &places[RUN_COLUMN_DEVICES];
    surface_fill(surface, (struct rect){area.y, area.x + place->x, 1, place->w}, STYLE_LABEL);
    surface_format(surface, area.y, area.x + place->x, place->w, STYLE_LABEL, "%d-%d of %d",
                   first + 1, first + visible, count);
}

bool panel_runs(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    const struct state_run *selected = state_run(&ui->state, ui->selected_run);
    struct list_column columns[RUN_COLUMNS];
    struct column_place places[RUN_COLUMNS];
    int count = ui->state.run_count, visible = area.h - 1;
    int line = selected ? count - 1 - (int)(selected - ui->state.runs) : -1;
    (void)err;
    run_columns_choose(ui, all_columns, columns);
    columns_place(columns, RUN_COLUMNS, area.w, places);
    panel_heading(ui, surface, area, PANEL_RUNS, columns, places, RUN_COLUMNS);
    if (count == 0 && visible > 0)
        surface_text(surface, area.y + 1, area.x, area.w, STYLE_LABEL,
                     ui->link == LINK_UP ? "none yet" : "");
    int first = list_scroll(line, count, visible);
    if (count > visible && visible > 0)
        draw_position(surface, area, places, first, visible, count);
    for (int i = first; i < count && i < first + visible; i++) {
        int y = area.y + 1 + i - first;
        run_row(ui, surface, area, y, columns, places, ui_run_line(ui, i));
        surface_mark_line(surface, y, area.x, area.w, i);
        if (i == line && panel_focused(ui, PANEL_RUNS))
            surface_restyle(surface, y, area.x, area.w, STYLE_CURSOR);
    }
    return true;
}
