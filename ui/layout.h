/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_LAYOUT_H
#define DPARTUI_UI_LAYOUT_H

#include <stdbool.h>

#include "ui/surface.h"

/* The panels that can have the keys. */
enum panel { PANEL_DEVICES, PANEL_FORM, PANEL_RUNS, PANEL_CHART, PANEL_COUNT };

struct layout_request {
    int rows, columns;
    int devices, runs; /* lines their lists would like */
    int fields;        /* lines the form would like */
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
 * Pure. From 60x16 up everything is on the screen; lists shrink first, then the chart. Below that
 * one panel at a time, the one in focus, beside or above the chart as far as there is room; then
 * the chart goes, then the key bar; below 20x4 only a message stays.
 */
struct layout layout_compute(const struct layout_request *request);

#endif
