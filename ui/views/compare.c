/* SPDX-License-Identifier: MIT */
#include "ui/views/views.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/figure.h"
#include "base/text.h"
#include "experiment/noise.h"
#include "experiment/sentence.h"
#include "ui/session/sweep.h"
#include "ui/views/compare/chart.h"
#include "ui/views/compare/grid.h"
#include "ui/views/compare/plan.h"
#include "ui/views/compare/table.h"

/*
 * What more devices bring: like runs side by side as a table and a chart, what the numbers mean,
 * and sweeps that train what is missing.
 */

enum { TABLE_WIDTH = 90, WIDE = 150, CHART_LEAST = 6, NOTES = 7, NOTE_ROWS = 6 };

/* The text between table and chart. */
struct notes {
    int count;
    struct {
        char text[512];
        enum style style;
    } line[NOTES];
};

static char *note(struct notes *notes, enum style style)
{
    notes->line[notes->count].style = style;
    return notes->line[notes->count++].text;
}

enum { NOTE_SIZE = sizeof((struct notes *)0)->line[0].text };

/* What is the same in all runs; batch and lr stand in the titles. */
static void heading(const struct comparison *comparison, char *buffer, size_t size)
{
    const struct series *series = &comparison->series[0];
    const struct state_run *anchor = comparison->anchor;
    int threads = series->anchor.threads;
    char tail[48] = "";
    if (threads > 0 && !series->threads_differ)
        snprintf(tail, sizeof tail, ", %d thread%s each", threads, plural(threads));
    snprintf(buffer, size, "Same in all runs: %s on %s, %s, %s%s", anchor->model, anchor->data,
             anchor->split[0] != '\0' ? anchor->split : "-",
             anchor->sync[0] != '\0' ? anchor->sync : "-", tail);
}

/*
 * The row that the notes are about: the one in focus, else the one with the most devices that ran.
 * NULL for an anchor of which not even devices and batch are known.
 */
static const struct series_row *row_in_question(const struct ui *ui,
                                                const struct comparison *comparison,
                                                const struct series **series)
{
    const struct series_row *row =
        comparison_row(comparison, comparison_line(ui, comparison), series);
    if (!row)
        *series = &comparison->series[0];
    int last = (*series)->count - 1;
    if (row && isfinite(row->outcome.speed_up) && row != &(*series)->rows[0])
        return row;
    while (last > 0 && !isfinite((*series)->rows[last].outcome.speed_up))
        last--;
    return last >= 0 ? &(*series)->rows[last] : NULL;
}

static void say_progress(const struct ui *ui, struct notes *notes)
{
    struct sweep_progress progress;
    struct figure left;
    char now[64] = "", until[64] = "";
    if (ui->compare.submitting) {
        snprintf(note(notes, STYLE_GOOD), NOTE_SIZE, "Sweep: %d of %d runs are in the queue",
                 ui->compare.taken, sweep_runs(ui));
        return;
    }
    if (!sweep_progress(ui, &progress))
        return;
    if (progress.live)
        snprintf(now, sizeof now, ", run %ld on %d device%s %s", progress.live->run,
                 progress.live->device_count, plural(progress.live->device_count),
                 ui->state.live.status == RUN_PAUSED ? "paused" : "trains");
    if (isfinite(progress.left_s))
        snprintf(until, sizeof until, "; %s %s left", progress.at_least ? "at least" : "about",
                 figure_duration(&left, progress.left_s));
    snprintf(note(notes, STYLE_GOOD), NOTE_SIZE, "Sweep: %d of %d done%s, %d wait%s%s",
             progress.ended, progress.count, now, progress.waiting,
             progress.waiting == 1 ? "s" : "", until);
}

static bool has_warm_up(const struct comparison *comparison)
{
    for (int i = 0; i < comparison_lines(comparison); i++)
        if (comparison_row(comparison, i, NULL)->outcome.warm_up)
            return true;
    return false;
}

static void make_notes(const struct ui *ui, const struct comparison *comparison,
                       struct notes *notes)
{
    const struct series *series = NULL;
    const struct series_row *row = row_in_question(ui, comparison, &series);
    char text[NOTE_SIZE] = "";
    notes->count = 0;
    if (row && series->base >= 0) {
        const struct series_row *rival = comparison_rival(comparison, series, row);
        const struct outcome *base = &series->rows[series->base].outcome;
        if (rival)
            sentence_of_strategies(&row->outcome, &rival->outcome, base, text, sizeof text);
        else
            sentence_of_devices(&row->outcome, base, comparison_cores(ui), text, sizeof text);
        if (text[0] != '\0')
            snprintf(note(notes, STYLE_NORMAL), NOTE_SIZE, "%s", text);
        sentence_of_shares(&row->outcome, text, sizeof text);
    }
    if (series->threads_differ)
        snprintf(
            note(notes, STYLE_WARNING), NOTE_SIZE,
            "The runs also differ in threads per CPU device: press w to train comparable ones");
    else if (text[0] != '\0')
        snprintf(note(notes, STYLE_LABEL), NOTE_SIZE, "%s", text);
    if (has_warm_up(comparison))
        snprintf(note(notes, STYLE_LABEL), NOTE_SIZE, "* a single epoch, which is warm-up");
    say_progress(ui, notes);
}

/* Rows that a note takes. */
static int note_rows(const struct notes *notes, int which, int columns)
{
    int rows = paragraph_rows(notes->line[which].text, columns);
    return rows < NOTE_ROWS ? rows : NOTE_ROWS;
}

static int notes_rows(const struct notes *notes, int columns)
{
    int rows = 0;
    for (int i = 0; i < notes->count; i++)
        rows += note_rows(notes, i, columns);
    return rows;
}

/* Leave the newest note out where it leaves no room for the whole table and a chart. */
static void drop_for_room(const struct comparison *comparison, struct rect area,
                          struct notes *notes)
{
    if (compare_table_rows(comparison) + notes_rows(notes, area.w) + CHART_LEAST > area.h)
        notes->count--;
}

/* What the batch of the row in question is worth, and, of another one, when it is at the same
 * accuracy. */
static void say_noise(const struct ui *ui, const struct comparison *comparison, struct rect area,
                      struct notes *notes)
{
    const struct series *series = NULL;
    const struct series_row *row = row_in_question(ui, comparison, &series);
    const double noise = noise_of_series(series);
    char text[NOTE_SIZE];
    if (!row || !noise_sentence(noise, row->run.batch, text, sizeof text)[0])
        return;
    snprintf(note(notes, STYLE_LABEL), NOTE_SIZE, "%s", text);
    drop_for_room(comparison, area, notes);
    if (series->base < 0 || series->rows[series->base].run.batch == row->run.batch)
        return;
    const struct series_row *base = &series->rows[series->base];
    const struct noise_choice choice = {&row->outcome, row->run.batch};
    const struct noise_reach reach =
        noise_reach(noise, &choice, &(struct noise_choice){&base->outcome, base->run.batch});
    if (!noise_reach_sentence(&reach, &choice, series->target_acc, text, sizeof text)[0])
        return;
    snprintf(note(notes, STYLE_NORMAL), NOTE_SIZE, "%s", text);
    drop_for_room(comparison, area, notes);
}

/* What is predicted, likewise. */
static void say_forecast(const struct ui *ui, const struct comparison *comparison, struct rect area,
                         struct notes *notes)
{
    const struct series *series = NULL;
    struct forecast_basis basis;
    struct forecast forecast;
    row_in_question(ui, comparison, &series);
    if (!comparison_foresee(ui, series, &basis, &forecast))
        return;
    forecast_sentence(&basis, &forecast, note(notes, STYLE_LABEL), NOTE_SIZE);
    drop_for_room(comparison, area, notes);
}

static void draw_notes(const struct notes *notes, struct surface *surface, struct rect area)
{
    int end = area.y + area.h;
    for (int i = 0; i < notes->count && area.y < end; i++) {
        area.h = note_rows(notes, i, area.w);
        if (area.h > end - area.y)
            area.h = end - area.y;
        surface_paragraph(surface, area, notes->line[i].style, notes->line[i].text);
        area.y += area.h;
    }
}

/* Nothing to compare with: what to do about it. */
static void draw_advice(const struct ui *ui, const struct comparison *comparison,
                        struct surface *surface, struct rect area)
{
    const char *model = ui->form.spec.model;
    struct device_list devices;
    char text[256];
    sweep_devices(ui, &devices);
    char *names = devices.count > 1 ? device_list_text(&devices) : NULL;
    if (ui->link != LINK_UP && !comparison->anchor)
        snprintf(text, sizeof text, "%s",
                 ui->link == LINK_STARTING ? "Starting the engine" : ui->link_advice);
    else
        snprintf(text, sizeof text, "%s to train %s on %s%s%s.",
                 !comparison->anchor
                     ? "There are no runs yet. Press w"
                     : "No run like this on another number of devices yet. Mark other runs in R "
                       "with Space, or press w",
                 model ? model : "the next run",
                 devices.count > 2 ? "1, 2 and more devices" : "1 and 2 devices",
                 names ? " of " : "; choose them on the dashboard (D)", names ? names : "");
    surface_paragraph(surface, area, STYLE_NORMAL, text);
    free(names);
}

/* Chart or, while a sweep is asked about, its plan. */
static bool draw_lower(const struct ui *ui, const struct comparison *comparison,
                       struct surface *surface, struct rect area, struct error *err)
{
    if (area.h <= 0 || area.w <= 0)
        return true;
    if (sweep_is_asked(ui)) {
        compare_plan_draw(ui, surface, area);
        return true;
    }
    if (!comparison_says_something(comparison)) {
        area.y++;
        area.h--;
        draw_advice(ui, comparison, surface, area);
        return true;
    }
    return area.h < CHART_LEAST || compare_chart_draw(ui, comparison, surface, area, err);
}

/* How many rows the table gets of those above the chart or the plan; none: less than one. */
static int table_rows(const struct ui *ui, const struct comparison *comparison, int rows)
{
    int wanted = compare_table_rows(comparison);
    int lower = compare_plan_rows(ui);
    /* The words are about its rows; a plan has to be read. */
    if (sweep_is_asked(ui) && wanted > rows - lower)
        wanted = rows - lower;
    return wanted > rows ? rows : wanted;
}

/* Table, words and chart, one below the other. */
static bool draw_stack(const struct ui *ui, const struct comparison *comparison,
                       const struct notes *notes, struct surface *surface, struct rect area,
                       struct error *err)
{
    int words = sweep_is_asked(ui) ? 0 : notes_rows(notes, area.w);
    int table = table_rows(ui, comparison, area.h - words);
    if (table > 0)
        compare_table_draw(ui, comparison, surface, (struct rect){area.y, area.x, table, area.w});
    else
        table = 0;
    area.y += table;
    area.h -= table;
    if (words > 0)
        draw_notes(notes, surface, area);
    area.y += words;
    area.h -= words;
    return draw_lower(ui, comparison, surface, area, err);
}

/* Table and words with the plan below on the left, the chart on the right. */
static bool draw_wide(const struct ui *ui, const struct comparison *comparison,
                      const struct notes *notes, struct surface *surface, struct rect area,
                      struct error *err)
{
    struct rect left = {area.y, area.x, area.h, TABLE_WIDTH};
    struct rect right = {area.y, area.x + TABLE_WIDTH + 3, area.h, area.w - TABLE_WIDTH - 3};
    int written = notes_rows(notes, TABLE_WIDTH);
    int table = compare_table_rows(comparison), words = written + 2;
    if (table > area.h - words)
        table = area.h - words;
    left.h = table > 0 ? table : 0;
    if (left.h > 0)
        compare_table_draw(ui, comparison, surface, left);
    left = (struct rect){area.y + left.h + 1, area.x, area.h - left.h - 1, TABLE_WIDTH};
    draw_notes(notes, surface, left);
    left.y += written + 1;
    left.h -= written + 1;
    if (sweep_is_asked(ui))
        compare_plan_draw(ui, surface, left);
    for (int y = area.y; y < area.y + area.h; y++)
        surface_glyph(surface, y, right.x - 2, GLYPH_RULE, STYLE_TRACK);
    return compare_chart_draw(ui, comparison, surface, right, err);
}

static bool draw_grid(const struct ui *ui, struct surface *surface, struct rect area,
                      struct error *err)
{
    struct grid grid;
    return !grid_make(ui, &grid) || compare_grid_draw(ui, &grid, surface, area, err);
}

static bool draw(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    struct comparison comparison;
    struct notes notes;
    char text[256];
    if (grid_is_shown(ui) && !sweep_is_asked(ui))
        return draw_grid(ui, surface, area, err);
    comparison_make(ui, &comparison);
    if (!comparison.anchor)
        return draw_lower(ui, &comparison, surface, area, err);
    heading(&comparison, text, sizeof text);
    surface_text(surface, area.y++, area.x, area.w, STYLE_LABEL, text);
    if (--area.h == 0)
        return true;
    make_notes(ui, &comparison, &notes);
    say_noise(ui, &comparison, area, &notes);
    say_forecast(ui, &comparison, area, &notes);
    return area.w >= WIDE && comparison_says_something(&comparison)
               ? draw_wide(ui, &comparison, &notes, surface, area, err)
               : draw_stack(ui, &comparison, &notes, surface, area, err);
}

static bool hint_of_grid(const struct ui *ui, char *buffer, size_t size)
{
    struct grid grid;
    if (!grid_make(ui, &grid))
        return false;
    compare_grid_hint(ui, &grid, buffer, size);
    return true;
}

static void hint(const struct ui *ui, char *buffer, size_t size)
{
    struct comparison comparison;
    if (hint_of_grid(ui, buffer, size))
        return;
    comparison_make(ui, &comparison);
    const struct series_row *row =
        comparison_row(&comparison, comparison_line(ui, &comparison), NULL);
    if (row && row->others > 0)
        snprintf(buffer, size,
                 "run %ld; %d more like it: mark another one in R to see that instead",
                 row->run.run, row->others);
    else if (comparison_says_something(&comparison))
        snprintf(buffer, size,
                 "c: another metric; speed-up, eff. and change are against the "
                 "fewest devices");
}

const struct view view_compare = {draw, hint};
