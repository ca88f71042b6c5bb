/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "ui/draw/preferences.h"
#include "ui/draw/surface.h"

/*
 * A grid of dots finer than the cells of a surface: 2x4 dots a cell as braille patterns, 2x2 as
 * quadrant blocks, or 1x3 as the ASCII characters . - ' that lie low, in the middle and high. Dot
 * (0, 0) is at the top left.
 */
struct canvas {
    enum canvas_kind kind;      /* never AUTO */
    int rows, columns;          /* in cells */
    int across, down;           /* in dots: a cell */
    int dots_across, dots_down; /* in dots: the whole canvas */
    struct canvas_cell *cells;
};

struct canvas_cell {
    uint8_t dots;  /* bit x + y * (dots across a cell) */
    uint8_t style; /* enum style */
    uint8_t layer; /* what was drawn last */
};

bool canvas_open(struct canvas *canvas, int rows, int columns, enum canvas_kind kind,
                 struct error *err);
void canvas_close(struct canvas *canvas);

/*
 * Set a dot; outside is clipped. Layers are drawn from the back to the front: a dot of a new layer
 * takes the whole cell away from the layers below, so that a cell never mixes two curves.
 */
void canvas_dot(struct canvas *canvas, int x, int y, int layer, enum style style);

/*
 * How a line is drawn: bit i of the pattern tells whether it has the dots at place i modulo 8, so
 * that lines can be told apart without colour. The first four bits differ, too: a legend's sample.
 */
enum {
    CANVAS_SOLID = 0xff,
    CANVAS_LONG_DASHES = 0xe7,
    CANVAS_DASHES = 0x3c,
    CANVAS_SHORT_DASHES = 0x33,
    CANVAS_DASH_DOT = 0xfa,
    CANVAS_NOTCHED = 0xdd,
    CANVAS_WIDE_GAPS = 0x1f,
    CANVAS_DOT_DASH_GAP = 0x17,
    CANVAS_SPARSE_DASHES = 0x07,
    CANVAS_SPARSE_DOTS = 0x05,
    CANVAS_DOTS = 0x55,
    CANVAS_FEW_DOTS = 0x11,
};

struct canvas_pen {
    int layer;
    unsigned pattern;
    enum style style;
};

/* A straight line between two dots (Bresenham), ends included. Works far outside, too. */
void canvas_line(struct canvas *canvas, double x0, double y0, double x1, double y1,
                 const struct canvas_pen *pen);

/* Copy the cells that have dots onto a surface with the top left at (y, x). */
void canvas_show(const struct canvas *canvas, struct surface *surface, int y, int x);

/* For a legend: four dots of a level line straight onto a surface, and how wide those are. */
void canvas_sample(enum canvas_kind kind, const struct canvas_pen *pen, struct surface *surface,
                   int y, int x);
int canvas_sample_width(enum canvas_kind kind);
