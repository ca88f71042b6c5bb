/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_CANVAS_H
#define DPARTUI_UI_CANVAS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "ui/surface.h"

/*
 * A grid of dots finer than the cells of a surface: 2x4 dots a cell as braille patterns, or 1x3 as
 * the ASCII characters . - ' that lie low, in the middle and high. Dot (0, 0) is at the top left.
 */
struct canvas {
    int rows, columns;          /* in cells */
    bool braille;               /* else ASCII */
    int dots_across, dots_down; /* in dots: the whole canvas */
    struct canvas_cell *cells;
};

struct canvas_cell {
    uint8_t dots;  /* bit x + y * (dots across a cell) */
    uint8_t style; /* enum style */
    uint8_t layer; /* what was drawn last */
};

bool canvas_open(struct canvas *canvas, int rows, int columns, bool braille, struct error *err);
void canvas_close(struct canvas *canvas);

/*
 * Set a dot; outside is clipped. Layers are drawn from the back to the front: a dot of a new layer
 * takes the whole cell away from the layers below, so that a cell never mixes two curves.
 */
void canvas_dot(struct canvas *canvas, int x, int y, int layer, enum style style);

/* How a line is drawn: every dot, or one in `every` along it. */
struct canvas_pen {
    int layer, every;
    enum style style;
};

/* A straight line between two dots (Bresenham), ends included. Works far outside, too. */
void canvas_line(struct canvas *canvas, double x0, double y0, double x1, double y1,
                 const struct canvas_pen *pen);

/* Copy the cells that have dots onto a surface with the top left at (y, x). */
void canvas_show(const struct canvas *canvas, struct surface *surface, int y, int x);

#endif
