/* SPDX-License-Identifier: MIT */
#include "ui/draw/layout.h"

enum {
    LEAST_ROWS = 4,
    LEAST_COLUMNS = 20,
    FULL_ROWS = 16,
    FULL_COLUMNS = 60,
    SPACED_ROWS = 40, /* from here blank lines set the sections apart */
    KEY_BAR_ROWS = 6,
    CHART_ROWS = 5,    /* fewer show no curve worth having */
    RUN_ROWS = 3,      /* at least, heading included */
    DEVICE_WIDTH = 19, /* of a device beside others: ticked, name, load and rows */
};

static int clamp(int value, int low, int high)
{
    if (value > high)
        value = high;
    return value < low ? low : value;
}

/* The side of the form: wide enough for its values, never more than two fifths. */
static int form_width(int columns)
{
    return clamp(columns * 3 / 10, 26, 40);
}

int layout_device_columns(int count, int lines, int width)
{
    int most = clamp((width + 1) / (DEVICE_WIDTH + 1), 1, width);
    int columns = 1;
    lines = clamp(lines, 1, lines);
    while (columns < most && columns * lines < count)
        columns++;
    return columns;
}

int layout_device_gap(int columns, int width)
{
    return (width + 2) / columns - 2 > DEVICE_WIDTH ? 2 : 1;
}

int layout_device_width(int columns, int width)
{
    return (width - (columns - 1) * layout_device_gap(columns, width)) / columns;
}

/* The lines that the devices take of `most`, heading excluded. */
static int device_lines(const struct layout_request *r, int most)
{
    int columns = layout_device_columns(r->devices, most, r->columns);
    int lines = clamp((r->devices + columns - 1) / columns, 1, most);
    return r->totals && lines < most ? lines + 1 : lines;
}

/* Everything at once. */
static void lay_out_all(struct layout *l, const struct layout_request *r)
{
    int gap = r->rows >= SPACED_ROWS;
    int top = l->header.h + gap, bottom = l->status.y - gap;
    int middle_least = clamp(r->rows * 3 / 8, 6, 9);
    int spare_rows = bottom - top - 2 * gap - middle_least - RUN_ROWS - 1;
    int devices = 1 + device_lines(r, clamp(spare_rows, 1, r->rows / 3));
    int rest = bottom - top - devices - 2 * gap;
    int runs = 1 + clamp(r->runs, 2, clamp(rest / 3 - 1, 2, rest));
    /* What the form does not need goes to a longer list of runs, as long as there is one. */
    int spare = rest - runs - clamp(1 + r->fields, middle_least, rest);
    if (spare > 0)
        runs += clamp(1 + r->runs - runs, 0, spare / 3);
    runs = clamp(runs, 2, rest - middle_least);
    int middle = rest - runs;
    int side = form_width(r->columns);
    l->devices = (struct rect){top, 0, devices, r->columns};
    top += devices + gap;
    l->chart = (struct rect){top, 0, middle, r->columns - side - 3};
    l->rule = (struct rect){top, r->columns - side - 2, middle, 1};
    l->form = (struct rect){top, r->columns - side, middle, side};
    top += middle + gap;
    l->runs = (struct rect){top, 0, runs, r->columns};
}

/* The panel in focus and what fits of the chart. */
static void lay_out_one(struct layout *l, const struct layout_request *r)
{
    struct rect area = {1, 0, l->status.y - 1, r->columns};
    int most = area.h - CHART_ROWS >= 2 ? area.h - CHART_ROWS : area.h;
    if (r->focus == PANEL_CHART) {
        l->chart = area;
        return;
    }
    int lines = r->focus == PANEL_DEVICES ? device_lines(r, clamp(most - 1, 1, most))
                : r->focus == PANEL_FORM  ? r->fields
                                          : r->runs;
    int wanted = 1 + clamp(lines, 1, r->rows);
    struct rect panel = area;
    if (r->focus == PANEL_FORM && r->columns >= FULL_COLUMNS) {
        int side = form_width(r->columns);
        l->chart = (struct rect){area.y, 0, area.h, r->columns - side - 3};
        l->rule = (struct rect){area.y, r->columns - side - 2, area.h, 1};
        l->form = (struct rect){area.y, r->columns - side, area.h, side};
        return;
    }
    /* The form is for typing: it keeps its lines, and the chart takes what is left. */
    panel.h = clamp(wanted, 1, r->focus == PANEL_FORM ? area.h : most);
    if (area.h - panel.h >= CHART_ROWS)
        l->chart = (struct rect){area.y + panel.h, 0, area.h - panel.h, r->columns};
    if (r->focus == PANEL_DEVICES)
        l->devices = panel;
    else if (r->focus == PANEL_FORM)
        l->form = panel;
    else
        l->runs = panel;
}

struct layout layout_compute(const struct layout_request *request)
{
    struct layout l = {0};
    int rows = request->rows, columns = request->columns;
    if (rows < LEAST_ROWS || columns < LEAST_COLUMNS) {
        l.too_small = true;
        return l;
    }
    int keys = rows >= KEY_BAR_ROWS;
    l.header = (struct rect){0, 0, 1, columns};
    l.keys = (struct rect){rows - keys, 0, keys, columns};
    l.status = (struct rect){rows - keys - 1, 0, 1, columns};
    if (rows >= FULL_ROWS && columns >= FULL_COLUMNS)
        lay_out_all(&l, request);
    else
        lay_out_one(&l, request);
    return l;
}
