/* SPDX-License-Identifier: MIT */
#include "ui/views/runs.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ui/panels/chart.h"
#include "ui/panels/run_cells.h"
#include "ui/views/dashboard.h"

/* All runs: sorted, filtered, and the marked ones as curves below. */

enum {
    HEADINGS = 2,     /* the words about the list, the columns' titles */
    CHART_LEAST = 8,  /* rows worth having */
    SPLIT_ROWS = 25,  /* from here the chart has a part of its own; below only what is left over */
    SPACED_ROWS = 36, /* from here a blank line lies between */
};

static const struct list_column columns[RUN_COLUMNS] = {
    [RUN_COLUMN_NUMBER] = {"run", 5, 7, true, 0},
    [RUN_COLUMN_MODEL] = {"model", 8, 12, false, 2},
    [RUN_COLUMN_DATA] = {"data", 8, 13, false, 9},
    [RUN_COLUMN_ROWS] = {"rows", 4, 0, true, 5},
    [RUN_COLUMN_DEVICES] = {"devices", 7, 12, false, 1},
    [RUN_COLUMN_STRATEGY] = {"strategy", 8, 0, false, 4},
    [RUN_COLUMN_BATCH] = {"batch", 5, 7, true, 3},
    [RUN_COLUMN_LR] = {"lr", 5, 7, true, 3},
    [RUN_COLUMN_EPOCHS] = {"epochs", 6, 7, true, 6},
    [RUN_COLUMN_TEST_ACC] = {"test acc", 8, 0, true, 0},
    [RUN_COLUMN_BEST_ACC] = {"best", 6, 8, true, 8},
    [RUN_COLUMN_S_PER_EPOCH] = {"s/epoch", 7, 8, true, 2},
    [RUN_COLUMN_SPEED] = {"samples/s", 9, 0, true, 7},
    [RUN_COLUMN_SPEED_UP] = {"speed-up", 9, 12, true, 3},
    [RUN_COLUMN_ENERGY] = {"J/epoch", 7, 8, true, 14},
    [RUN_COLUMN_SAMPLES_PER_J] = {"samples/J", 9, 0, true, 15},
    [RUN_COLUMN_STATUS] = {"status", 11, 0, false, 1},
    [RUN_COLUMN_STARTED] = {"started", 11, 0, false, 10},
    [RUN_COLUMN_SPLIT] = {"split", 8, 0, false, 13},
    [RUN_COLUMN_SYNC] = {"sync", 9, 0, false, 12},
    [RUN_COLUMN_NOTE] = {"note", 12, 60, false, 11},
};

struct parts {
    struct rect list, chart; /* the list with its headings */
};

static int at_most(int value, int most)
{
    return value < most ? value : most;
}

/* By the number of all runs, so that nothing jumps while a filter is typed. */
static struct parts parts_of(const struct ui *ui, struct rect area)
{
    struct parts parts = {.list = area};
    int wanted = HEADINGS + (ui->state.run_count > 0 ? ui->state.run_count : 1);
    int gap = area.h >= SPACED_ROWS;
    int most = area.h >= SPLIT_ROWS ? area.h / 2 : area.h - CHART_LEAST;
    if (ui->state.run_count == 0 || area.h - gap - CHART_LEAST < HEADINGS + 1 ||
        (wanted > most && area.h < SPLIT_ROWS))
        return parts;
    parts.list.h = at_most(wanted, most);
    parts.chart =
        (struct rect){area.y + parts.list.h + gap, area.x, area.h - parts.list.h - gap, area.w};
    return parts;
}

int runs_view_lines(const struct ui *ui)
{
    struct layout layout = dashboard_layout(ui, ui->rows, ui->columns);
    struct rect area = {1, 0, layout.status.y - 1, ui->columns};
    return parts_of(ui, area).list.h - HEADINGS;
}

/* "7 of 20 runs match lr<=0.1, 2 marked; sorted by test acc, highest first" */
static void draw_summary(const struct ui *ui, struct surface *surface, struct rect area)
{
    const struct run_list *list = &ui->list;
    int x = area.x, end = area.x + area.w, count = ui->state.run_count;
    const long older = ui->state.older;
    char runs[64];
    if (older > 0)
        snprintf(runs, sizeof runs, "newest %d of %ld runs", count, count + older);
    else
        snprintf(runs, sizeof runs, "%d run%s", count, plural(count));
    if (list->filter[0] != '\0') {
        x += surface_format(surface, area.y, x, end - x, STYLE_STRONG, "%d of %s%s match%s ",
                            list->count, older > 0 ? "the " : "", runs,
                            count + older == 1 ? "es" : "");
        x += surface_text(surface, area.y, x, end - x, STYLE_WARNING, list->filter);
    } else {
        x += surface_text(surface, area.y, x, end - x, STYLE_STRONG, runs);
    }
    if (count == 0)
        return;
    if (ui->mark_count > 0)
        x += surface_format(surface, area.y, x, end - x, STYLE_NORMAL, ", %d marked *",
                            ui->mark_count);
    if (ui->mark_count > UI_MARKS_DRAWN)
        x += surface_format(surface, area.y, x, end - x, STYLE_NORMAL, " (%d drawn)",
                            UI_MARKS_DRAWN);
    surface_format(surface, area.y, x, end - x, STYLE_LABEL, ", by %s, %s",
                   list->column == RUN_COLUMN_NUMBER ? "number" : columns[list->column].title,
                   run_list_direction(list));
}

/* The sorted column is never left out, and its title has a sign of the direction. */
static void choose_columns(const struct ui *ui, struct list_column *chosen, char *title,
                           size_t size)
{
    const struct run_list *list = &ui->list;
    struct list_column *sorted = &chosen[list->column];
    run_columns_choose(ui, columns, ui->preferences.columns.count > 0, chosen);
    snprintf(title, size, "%s %c", sorted->title, list->ascending ? '^' : 'v');
    sorted->title = title;
    sorted->drop = 0;
    if (sorted->width < (int)strlen(title))
        sorted->width = (int)strlen(title);
}

/* The places of the chosen columns in the order that the user wants. */
static void place_columns(const struct ui *ui, const struct list_column *chosen, int width,
                          struct column_place *places)
{
    const struct run_columns *wanted = &ui->preferences.columns;
    struct list_column ordered[RUN_COLUMNS];
    struct column_place placed[RUN_COLUMNS];
    if (wanted->count == 0) {
        columns_place(chosen, RUN_COLUMNS, width, places);
        return;
    }
    for (int i = 0; i < wanted->count; i++)
        ordered[i] = chosen[wanted->column[i]];
    columns_place(ordered, wanted->count, width, placed);
    for (int i = 0; i < RUN_COLUMNS; i++)
        places[i] = (struct column_place){0, 0};
    for (int i = 0; i < wanted->count; i++)
        places[wanted->column[i]] = placed[i];
}

void runs_view_columns(const struct ui *ui, int width, bool *shown)
{
    struct list_column chosen[RUN_COLUMNS];
    struct column_place places[RUN_COLUMNS];
    char title[24];
    choose_columns(ui, chosen, title, sizeof title);
    place_columns(ui, chosen, width, places);
    for (int i = 0; i < RUN_COLUMNS; i++)
        shown[i] = places[i].w > 0;
}

static void draw_why_none(const struct ui *ui, struct surface *surface, struct rect area)
{
    char problem[160];
    if (run_list_problem(&ui->list, &ui->state, problem, sizeof problem))
        surface_format(surface, area.y, area.x, area.w, STYLE_LABEL, "no run matches: %s", problem);
    else
        surface_text(surface, area.y, area.x, area.w, STYLE_LABEL,
                     ui->state.older > 0 ? "no listed run matches; 'dpartui runs' has older ones"
                     : ui->state.run_count > 0 ? "no run matches the filter"
                     : ui->link == LINK_UP     ? "none yet: the dashboard starts one"
                                               : "none are known");
}

static void draw_list(const struct ui *ui, struct surface *surface, struct rect area)
{
    struct list_column chosen[RUN_COLUMNS];
    struct column_place places[RUN_COLUMNS];
    char title[24];
    int line = run_list_find(&ui->list, &ui->state, ui->selected_run);
    int visible = area.h - HEADINGS, first = list_scroll(line, ui->list.count, visible);
    draw_summary(ui, surface, area);
    choose_columns(ui, chosen, title, sizeof title);
    place_columns(ui, chosen, area.w, places);
    for (int i = 0; i < RUN_COLUMNS && area.h > 1; i++) {
        list_cell(surface, area, area.y + 1, &chosen[i], &places[i],
                  i == (int)ui->list.column ? STYLE_FOCUS : STYLE_LABEL, chosen[i].title);
        surface_mark_line(surface, area.y + 1, area.x + places[i].x, places[i].w,
                          RUNS_VIEW_TITLES + i);
    }
    for (int i = first; i < ui->list.count && i < first + visible; i++) {
        const struct state_run *run = run_list_run(&ui->list, &ui->state, i);
        int y = area.y + HEADINGS + i - first;
        if (!run)
            continue;
        run_row(ui, surface, area, y, chosen, places, run);
        surface_mark_line(surface, y, area.x, area.w, i);
        if (i == line)
            surface_restyle(surface, y, area.x, area.w, STYLE_CURSOR);
    }
    if (ui->list.count == 0 && visible > 0)
        draw_why_none(ui, surface, (struct rect){area.y + HEADINGS, area.x, 1, area.w});
}

static bool draw(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    struct parts parts = parts_of(ui, area);
    draw_list(ui, surface, parts.list);
    return parts.chart.h <= 0 || panel_chart(ui, surface, parts.chart, err);
}

static void hint(const struct ui *ui, char *buffer, size_t size)
{
    if (ui->selected_run != 0)
        run_hint(ui, buffer, size);
}

const struct view view_runs = {draw, hint};
