/* SPDX-License-Identifier: MIT */
#include "ui/views/views.h"

static bool draw(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    return panel_runs(ui, surface, area, err);
}

static bool act(struct ui *ui, enum action action)
{
    int line = 0;

    switch (action) {
    case ACTION_UP:
    case ACTION_DOWN:
    case ACTION_PAGE_UP:
    case ACTION_PAGE_DOWN:
    case ACTION_FIRST:
    case ACTION_LAST:
        for (int i = 0; i < ui->state.run_count; i++)
            if (ui_run_line(ui, i)->run == ui->selected_run)
                line = i;
        line = list_move(line, ui->state.run_count, 10, action);
        ui->selected_run = ui->state.run_count > 0 ? ui_run_line(ui, line)->run : 0;
        return true;
    default:
        return false;
    }
}

const struct view view_runs = {
    .name = "runs",
    .title = "Runs",
    .contexts = CONTEXT_RUN_LIST,
    .draw = draw,
    .act = act,
};
