/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "ui/draw/surface.h"

/* The panels that can have the keys. */
enum panel { PANEL_DEVICES, PANEL_FORM, PANEL_RUNS, PANEL_CHART, PANEL_COUNT };

/* From so many columns on there are two charts side by side where else there is one. */
enum { LAYOUT_TWO_CHARTS = 150 };

struct layout_request {
    int rows, columns;
    int devices; /* how many are listed */
    bool totals; /* the list of devices would like a line for their sum */
    int runs;    /* lines their list would like */
    int fields;  /* lines the form would like */
    enum panel focus;
};

/*
 * Where everything goes; a rectangle without rows or columns is not shown. Rectangles never overlap
 * and never leave the screen. Each list's rectangle includes its heading.
 */
struct layout {
    bool too_small; /* nothing but a message */
    struct rect header, devices, chart, rule, form, runs, status, keys;
};

/*
 * Pure. From 60x16 up everything is on the screen. What gives way when there are fewer rows, in
 * this order:
 *
 *  1. blank lines between the sections (below 40 rows);
 *  2. the runs beyond what a third of the lower part shows: their list scrolls;
 *  3. the line with the devices' sum, when they would take more than a third of the screen with it;
 *  4. a line per device: with more of them than a third of the screen has rows, several stand side
 *     by side, in as few columns as bring all on the screen;
 *  5. the devices beyond that: their list scrolls by pages;
 *  6. the lines of the form beyond nine (it scrolls), with the rows of the chart beside it.
 *
 * Below 60x16 there is one panel at a time, the one in focus, beside or above the chart as far as
 * there is room; then the chart goes, then the key bar; below 20x4 only a message stays. Columns of
 * lists are not the layout's: see ui/draw/list.h.
 */
struct layout layout_compute(const struct layout_request *request);

/*
 * How many devices stand side by side in `lines` lines of `width` columns: one when each can have a
 * line of its own, else as few as bring all `count` on the screen, else as many as fit.
 */
int layout_device_columns(int count, int lines, int width);
/* The width of one of them, and how many blanks stand between two. */
int layout_device_width(int columns, int width);
int layout_device_gap(int columns, int width);
