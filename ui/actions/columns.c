/* SPDX-License-Identifier: MIT */
#include "ui/actions/columns.h"

#include <string.h>

#include "ui/actions/settings.h"
#include "ui/keys/walk.h"
#include "ui/panels/run_cells.h"

static void toggle(struct ui *ui, enum run_column column)
{
    const struct run_columns usual = run_columns_usual(ui);
    struct run_columns columns = run_columns_wanted(ui);
    const bool had = run_columns_have(&columns, column);
    if (had)
        run_columns_remove(&columns, column);
    else
        run_columns_add(&columns, column);
    if (had && column == RUN_COLUMN_NUMBER)
        ui_say(ui, false, "the column run has to stay: it shows the marks");
    else if (columns.count == 0)
        ui_say(ui, false, "one column has to stay");
    else
        settings_change(ui, "columns",
                        strcmp(columns.text, usual.text) == 0 ? "default" : columns.text);
}

bool columns_can(const struct ui *ui, enum action action)
{
    switch (action) {
    case ACTION_SAVE:
        return settings_can_save(ui);
    case ACTION_RESET:
        return ui->preferences.columns.count > 0;
    default:
        return true;
    }
}

bool columns_act(struct ui *ui, enum action action)
{
    if (action_walks(action)) {
        ui->line = list_move(ui->line, RUN_COLUMNS, ui_page_lines(ui), action);
        return true;
    }
    switch (action) {
    case ACTION_TOGGLE:
        toggle(ui, (enum run_column)ui->line);
        return true;
    case ACTION_RESET:
        settings_change(ui, "columns", NULL);
        return true;
    case ACTION_SAVE:
        settings_save(ui);
        return true;
    default:
        return false;
    }
}
