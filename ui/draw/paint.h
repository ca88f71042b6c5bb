/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/text.h"
#include "ui/draw/surface.h"
#include "ui/draw/theme.h"

/*
 * What to send to a terminal so that it shows a surface: the difference to what it shows now, in as
 * few bytes as is simple, for slow lines. Writes to a buffer only. The strings of the terminal come
 * from terminfo, of the type that curses has set up.
 */

enum { PAINT_STRING = 96 };

struct paint {
    struct text out;                        /* what has not been sent yet */
    struct surface shown;                   /* what the terminal shows once it is */
    char reset[PAINT_STRING];               /* to the looks of STYLE_NORMAL, from any */
    char looks[STYLE_COUNT][PAINT_STRING];  /* from those of STYLE_NORMAL; "": the same */
    char colour[STYLE_COUNT][PAINT_STRING]; /* only the colour of it */
    unsigned attributes[STYLE_COUNT];       /* bits of enum look_attribute */
    uint8_t pen;                            /* the style that text would have now */
    int y, x;                               /* of the cursor, -1: not known */
    bool cursor;                            /* it can be seen */
};

/* Take over the looks of a theme; they count from the next paint_clear() on. */
void paint_choose(struct paint *paint, const struct theme *theme);
/* The terminal shows nothing now and its cursor is hidden; the size of the next surface. */
bool paint_clear(struct paint *paint, int rows, int columns, struct error *err);
/* Append to `out` what makes the terminal show the surface; it has the size of the last
 * paint_clear(). */
bool paint_surface(struct paint *paint, const struct surface *surface, struct error *err);
void paint_free(struct paint *paint);
