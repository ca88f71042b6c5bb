/* SPDX-License-Identifier: MIT */
#include "ui/draw/list.h"

/* Width of the shown columns with `gap` blanks between them. */
static int total_width(const struct column_place *places, int count, int gap)
{
    int width = -gap;
    for (int i = 0; i < count; i++)
        if (places[i].w > 0)
            width += places[i].w + gap;
    return width < 0 ? 0 : width;
}

/* The column to give up first, -1: none may go. */
static int next_to_drop(const struct list_column *columns, const struct column_place *places,
                        int count)
{
    int which = -1;
    for (int i = 0; i < count; i++)
        if (places[i].w > 0 && columns[i].drop > 0 &&
            (which < 0 || columns[i].drop > columns[which].drop))
            which = i;
    return which;
}

void columns_place(const struct list_column *columns, int count, int width,
                   struct column_place *places)
{
    int gap = 2, x = 0, which;
    for (int i = 0; i < count; i++)
        places[i] = (struct column_place){0, columns[i].title ? columns[i].width : 0};
    if (total_width(places, count, gap) > width)
        gap = 1;
    while (total_width(places, count, gap) > width &&
           (which = next_to_drop(columns, places, count)) >= 0)
        places[which].w = 0;
    int spare = width - total_width(places, count, gap);
    for (int i = 0; i < count; i++)
        if (places[i].w > 0 && columns[i].most > places[i].w && spare > 0) {
            int more = columns[i].most - places[i].w;
            more = more < spare ? more : spare;
            places[i].w += more;
            spare -= more;
        }
    for (int i = 0; i < count; i++)
        if (places[i].w > 0) {
            places[i].x = x;
            if (x + places[i].w > width)
                places[i].w = x < width ? width - x : 0;
            x += places[i].w + gap;
        }
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

int list_scroll(int line, int count, int visible)
{
    int first = line - visible / 2;
    if (first > count - visible)
        first = count - visible;
    return first < 0 ? 0 : first;
}
