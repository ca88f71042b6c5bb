/* SPDX-License-Identifier: MIT */
#include "ui/draw/ansi.h"

/* The last column that is more than blank paper. */
static int line_end(const struct surface *surface, int y)
{
    int end = surface->columns;
    while (end > 0) {
        const struct cell *cell = surface_at(surface, y, end - 1);
        if (cell->character != ' ' || cell->style == STYLE_CURSOR || cell->style == STYLE_EDIT)
            break;
        end--;
    }
    return end;
}

void surface_dump_ansi(const struct surface *surface, const struct theme *theme, struct text *out)
{
    static const char plain[] = "\033[0m";
    for (int y = 0; y < surface->rows; y++) {
        enum style now = STYLE_NORMAL;
        int end = line_end(surface, y);
        for (int x = 0; x < end; x++) {
            const struct cell *cell = surface_at(surface, y, x);
            char sequence[THEME_SGR], bytes[5];
            if (cell->style != now) {
                now = (enum style)cell->style;
                text_append(out, sequence, (size_t)theme_sgr(theme, now, sequence));
            }
            text_append(out, bytes, (size_t)text_encode(cell->character, bytes));
        }
        if (now != STYLE_NORMAL)
            text_puts(out, plain);
        text_puts(out, "\n");
    }
}
