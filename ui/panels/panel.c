/* SPDX-License-Identifier: MIT */
#include "ui/panels/panel.h"

bool panel_focused(const struct ui *ui, enum panel panel)
{
    return ui->view == VIEW_DASHBOARD && ui->focus == panel;
}

void panel_heading(const struct ui *ui, struct surface *surface, struct rect area, enum panel panel,
                   const struct list_column *columns, const struct column_place *places, int count)
{
    /* The panel's name stays on the left even above numbers. */
    surface_text(surface, area.y, area.x + places[0].x, places[0].w,
                 panel_focused(ui, panel) ? STYLE_FOCUS : STYLE_STRONG, columns[0].title);
    for (int i = 1; i < count; i++)
        list_cell(surface, area, area.y, &columns[i], &places[i], STYLE_LABEL, columns[i].title);
}
