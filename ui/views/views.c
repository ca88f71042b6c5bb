/* SPDX-License-Identifier: MIT */
#include "ui/views/views.h"

bool view_focused(const struct ui *ui, enum panel panel)
{
    return ui->focus == panel && ui->mode != MODE_HELP;
}

void view_cell(struct surface *surface, struct rect area, int y, const struct list_column *column,
               const struct column_place *place, enum style style, const char *text)
{
    if (place->w <= 0)
        return;
    if (column->right)
        surface_right(surface, y, area.x + place->x, place->w, style, text);
    else
        surface_text(surface, y, area.x + place->x, place->w, style, text);
}

void view_heading(const struct ui *ui, struct surface *surface, struct rect area, enum panel panel,
                  const struct list_column *columns, const struct column_place *places, int count)
{
    /* The panel's name keeps to the left even above figures. */
    surface_text(surface, area.y, area.x + places[0].x, places[0].w,
                 view_focused(ui, panel) ? STYLE_FOCUS : STYLE_STRONG, columns[0].title);
    for (int i = 1; i < count; i++)
        view_cell(surface, area, area.y, &columns[i], &places[i], STYLE_LABEL, columns[i].title);
}

int view_scroll(int line, int count, int visible)
{
    int first = line - visible / 2;

    if (first > count - visible)
        first = count - visible;
    return first < 0 ? 0 : first;
}
