/* SPDX-License-Identifier: MIT */
#include "ui/panels/panels.h"

#include <string.h>

bool panel_focused(const struct ui *ui, enum panel panel)
{
    return ui->view == VIEW_DASHBOARD && ui->focus == panel;
}

void list_cell(struct surface *surface, struct rect area, int y, const struct list_column *column,
               const struct column_place *place, enum style style, const char *text)
{
    if (place->w <= 0)
        return;
    if (column->right)
        surface_right(surface, y, area.x + place->x, place->w, style, text);
    else
        surface_text(surface, y, area.x + place->x, place->w, style, text);
}

void panel_heading(const struct ui *ui, struct surface *surface, struct rect area, enum panel panel,
                   const struct list_column *columns, const struct column_place *places, int count)
{
    /* The panel's name keeps to the left even above figures. */
    surface_text(surface, area.y, area.x + places[0].x, places[0].w,
                 panel_focused(ui, panel) ? STYLE_FOCUS : STYLE_STRONG, columns[0].title);
    for (int i = 1; i < count; i++)
        list_cell(surface, area, area.y, &columns[i], &places[i], STYLE_LABEL, columns[i].title);
}

int list_scroll(int line, int count, int visible)
{
    int first = line - visible / 2;
    if (first > count - visible)
        first = count - visible;
    return first < 0 ? 0 : first;
}

int list_move(int line, int count, int page, enum action action)
{
    switch (action) {
    case ACTION_UP:
        line--;
        break;
    case ACTION_DOWN:
        line++;
        break;
    case ACTION_PAGE_UP:
        line -= page;
        break;
    case ACTION_PAGE_DOWN:
        line += page;
        break;
    case ACTION_FIRST:
        line = 0;
        break;
    default:
        line = count - 1;
        break;
    }
    line = line >= count ? count - 1 : line;
    return line < 0 ? 0 : line;
}

void draw_editor(const struct editor *editor, struct surface *surface, int y, int x, int w)
{
    const char *text = editor->text;
    char before[sizeof editor->text];
    if (w <= 0)
        return;
    memcpy(before, editor->text, (size_t)editor->cursor);
    before[editor->cursor] = '\0';
    int cursor = text_columns(before);
    while (cursor >= w && *text != '\0') {
        const char *next = text;
        text_next(&next);
        cursor -= text_columns(text) - text_columns(next);
        text = next;
    }
    surface_fill(surface, (struct rect){y, x, 1, w}, STYLE_EDIT);
    surface_text(surface, y, x, w, STYLE_EDIT, text);
    surface->cursor_y = y;
    surface->cursor_x = x + cursor;
}
