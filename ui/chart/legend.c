/* SPDX-License-Identifier: MIT */
#include "ui/chart/legend.h"

#include <math.h>
#include <stdio.h>

/* What the curves are called and how far they got. */

enum { GAP = 2, ENTRIES = 16 };

const char *series_name(const struct chart_series *series, struct series_name *name)
{
    if (series->name)
        snprintf(name->text, sizeof name->text, "%s", series->name);
    else
        snprintf(name->text, sizeof name->text, "%ld", series->number);
    return name->text;
}

/* "12: 0.912 best 0.915"; short: without the best. With a cursor: the value at it. */
static void entry_text(const struct chart *chart, const struct chart_series *series, bool whole,
                       char *buffer, size_t size)
{
    struct figure value, best;
    struct series_name name;
    chart_figure(chart, &value, chart->reading ? series->at : series->last, chart->decimals);
    if (whole && !chart->reading && isfinite(series->best))
        snprintf(buffer, size, "%s: %s best %s", series_name(series, &name), value.text,
                 chart_figure(chart, &best, series->best, chart->decimals));
    else
        snprintf(buffer, size, "%s: %s", series_name(series, &name), value.text);
}

static int entry_width(const struct chart *chart, const struct chart_series *series, int sample,
                       bool whole)
{
    char text[96];
    entry_text(chart, series, whole, text, sizeof text);
    return sample + 1 + text_columns(text) + GAP;
}

/* The legend's order: what is in front first, the earlier runs after all others. */
static int list_entries(const struct chart *chart, const struct chart_series **entries)
{
    int count = 0;
    for (int past = 0; past < 2; past++)
        for (int i = chart->count - 1; i >= 0 && count < ENTRIES; i--) {
            const struct chart_series *series = &chart->series[i];
            if (series_has_name(series) && (series->rank <= SERIES_PAST) == (past == 1) &&
                (chart->reading || isfinite(series->last)) && series_last_point(series))
                entries[count++] = series;
        }
    return count;
}

/*
 * How many entries find room, and take it: the short ones, or what is whole of entries that have
 * it in short.
 */
static int fit(const struct chart *chart, const struct chart_series *const *entries, int count,
               int sample, bool whole, int *room)
{
    for (int i = 0; i < count; i++) {
        int width = entry_width(chart, entries[i], sample, whole);
        if (whole)
            width -= entry_width(chart, entries[i], sample, false);
        if (width > *room)
            return i;
        *room -= width;
    }
    return count;
}

int legend_least(const struct chart *chart, const struct surface *surface)
{
    const struct chart_series *entries[ENTRIES];
    const int sample = canvas_sample_width(chart_canvas(chart, surface));
    return list_entries(chart, entries) > 0 ? entry_width(chart, entries[0], sample, false) - GAP
                                            : 0;
}

void draw_legend(const struct chart *chart, struct surface *surface, int y, int x, int end)
{
    const struct chart_series *entries[ENTRIES];
    enum canvas_kind kind = chart_canvas(chart, surface);
    int sample = canvas_sample_width(kind);
    int count = list_entries(chart, entries), room = end - x + GAP, fitting, whole, past;
    /* First each curve in front, then their bests, then older ones. */
    for (past = 0; past < count && entries[past]->rank > SERIES_PAST; past++)
        ;
    fitting = fit(chart, entries, past, sample, false, &room);
    whole = fit(chart, entries, fitting, sample, true, &room);
    if (fitting == past)
        fitting += fit(chart, entries + past, count - past, sample, false, &room);
    for (int i = 0; i < fitting; i++) {
        struct canvas_pen pen = series_pen(entries[i], 1);
        char text[96];
        entry_text(chart, entries[i], i < whole, text, sizeof text);
        canvas_sample(kind, &pen, surface, y, x);
        x += sample + 1;
        x += surface_text(surface, y, x, end - x, pen.style, text) + GAP;
    }
    if (chart->note && text_columns(chart->note) <= end - x)
        surface_right(surface, y, x, end - x, STYLE_LABEL, chart->note);
}

/* Whether `length` cells, and one on each side, are blank. */
static bool is_free(const struct plot *plot, const struct surface *surface, int row, int x,
                    int length)
{
    if (row < plot->inside.y || row >= plot->inside.y + plot->inside.h ||
        x + length > plot->inside.x + plot->inside.w + plot->end_room)
        return false;
    for (int i = 0; i <= length; i++) {
        const struct cell *cell = surface_at(surface, row, x + i);
        if (cell && cell->character != ' ')
            return false;
    }
    return true;
}

/* The name after the end of its curve, on the first free row nearby. */
static void label_end(const struct plot *plot, struct surface *surface,
                      const struct chart_series *series)
{
    static const int tries[] = {0, -1, 1, -2, 2};
    const struct chart_point *point = series_last_point(series);
    struct series_name name;
    if (!point || point->x > plot->x_high || point->x < plot->x_low)
        return;
    int x = plot->inside.x + plot_column(plot, plot_dot_x(plot, point->x)) + 2;
    int y = plot->inside.y + plot_row(plot, plot_dot_y(plot, point->y));
    int length = text_columns(series_name(series, &name));
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++)
        if (is_free(plot, surface, y + tries[i], x, length)) {
            surface_text(surface, y + tries[i], x, length, series_pen(series, 0).style, name.text);
            return;
        }
}

void draw_end_labels(const struct plot *plot, struct surface *surface, const struct chart *chart)
{
    for (int i = chart->count - 1; i >= 0; i--)
        if (series_has_name(&chart->series[i]))
            label_end(plot, surface, &chart->series[i]);
}
