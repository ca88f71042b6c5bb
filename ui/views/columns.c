/* SPDX-License-Identifier: MIT */
#include "ui/views/views.h"

#include <stdio.h>

#include "ui/panels/run_cells.h"
#include "ui/views/runs.h"

/* A switch for each column that the list of all runs can have. */

enum { SWITCH = 4, NAME = 11 };

static const char *const meanings[RUN_COLUMNS] = {
    [RUN_COLUMN_NUMBER] = "its number; * it is marked, ! it has warnings",
    [RUN_COLUMN_MODEL] = "the network",
    [RUN_COLUMN_DATA] = "the data set",
    [RUN_COLUMN_ROWS] = "training and test rows, where a run does not use all",
    [RUN_COLUMN_DEVICES] = "the devices that train it",
    [RUN_COLUMN_STRATEGY] = "what the devices divide, where a run does not divide the rows",
    [RUN_COLUMN_BATCH] = "rows of a mini-batch over all devices",
    [RUN_COLUMN_LR] = "the learning rate",
    [RUN_COLUMN_EPOCHS] = "epochs done, and of how many",
    [RUN_COLUMN_TEST_ACC] = "accuracy on the test rows",
    [RUN_COLUMN_BEST_ACC] = "the best accuracy; v: on validation rows",
    [RUN_COLUMN_S_PER_EPOCH] = "seconds of training per epoch",
    [RUN_COLUMN_SPEED] = "rows trained per second",
    [RUN_COLUMN_SPEED_UP] = "speed-up against another run, which is named",
    [RUN_COLUMN_ENERGY] = "joules of training per epoch, where they were measured",
    [RUN_COLUMN_SAMPLES_PER_J] = "rows trained per joule, where they were measured",
    [RUN_COLUMN_STATUS] = "what has become of it, or its place in the queue",
    [RUN_COLUMN_STARTED] = "when it began",
    [RUN_COLUMN_SPLIT] = "how rows are divided among the devices",
    [RUN_COLUMN_SYNC] = "how gradients are summed",
    [RUN_COLUMN_NOTE] = "its tags and the note on it",
};

static void draw_column(const struct ui *ui, struct surface *surface, struct rect row,
                        enum run_column column, bool on, bool fits)
{
    int x = row.x, end = row.x + row.w;
    surface_mark_line(surface, row.y, row.x, row.w, (int)column);
    surface_text(surface, row.y, x, end - x, STYLE_NORMAL, on ? "[x]" : "[ ]");
    x += SWITCH;
    if (x < end)
        surface_text(surface, row.y, x, end - x, on ? STYLE_STRONG : STYLE_NORMAL,
                     run_column_name(column));
    x += NAME;
    if (x < end)
        surface_format(surface, row.y, x, end - x, STYLE_LABEL, "%s%s",
                       on && !fits ? "no room on this screen: " : "", meanings[column]);
    if ((int)column == ui->line)
        surface_restyle(surface, row.y, row.x, row.w, STYLE_CURSOR);
}

static bool draw(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    const int first = list_scroll(ui->line, RUN_COLUMNS, area.h);
    const struct run_columns wanted = run_columns_wanted(ui);
    bool fits[RUN_COLUMNS];
    (void)err;
    runs_view_columns(ui, surface->columns, fits);
    for (int i = first; i < RUN_COLUMNS && i < first + area.h; i++)
        draw_column(ui, surface, (struct rect){area.y + i - first, area.x, 1, area.w},
                    (enum run_column)i, run_columns_have(&wanted, (enum run_column)i), fits[i]);
    return true;
}

static void hint(const struct ui *ui, char *buffer, size_t size)
{
    snprintf(buffer, size, "columns = %s", run_columns_text(&ui->preferences.columns));
}

const struct view view_columns = {draw, hint};
