/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_PANELS_PANELS_H
#define DPARTUI_UI_PANELS_PANELS_H

#include "ui/control/ui.h"
#include "ui/draw/columns.h"
#include "ui/draw/surface.h"

/*
 * The parts of the screen, one file each. A part draws into its rectangle, whatever its size, and
 * reads everything from `ui`; false only when memory ran out.
 */
typedef bool draw_part(const struct ui *ui, struct surface *surface, struct rect area,
                       struct error *err);

/* Above and below every view. */
draw_part panel_header, panel_status, panel_keys;
/*
 * How many rows of that width the status line wants: more than one for a question, an answer or an
 * advice that does not fit, because what to do about it stands at its end.
 */
enum { STATUS_MOST_ROWS = 6 };
int status_rows(const struct ui *ui, int width);
/* Of the dashboard. */
draw_part panel_devices, panel_chart, panel_form, panel_runs;

/* What the key bar shows on a screen of so many columns, from the left; returns how many items, at
 * most ACTION_ENTRIES. */
struct key_bar_item {
    size_t entry; /* of the table of actions */
    int x, w;
};
enum { KEY_BAR_RANKS = 4 };
int key_bar_fill(const struct ui *ui, int columns, struct key_bar_item *items);

/* Whether `panel` has the keys, for its heading and its cursor. */
bool panel_focused(const struct ui *ui, enum panel panel);
/* A list's heading: its name in the first column, the columns' titles behind it. */
void panel_heading(const struct ui *ui, struct surface *surface, struct rect area, enum panel panel,
                   const struct list_column *columns, const struct column_place *places, int count);
/* One cell of a list. */
void list_cell(struct surface *surface, struct rect area, int y, const struct list_column *column,
               const struct column_place *place, enum style style, const char *text);
/* The first line to show so that `line` of `count` is among the `visible` ones. */
int list_scroll(int line, int count, int visible);
/* `line` of `count` after an action that walks through lines, `page` at a time for pages. */
int list_move(int line, int count, int page, enum action action);
/* A line of a list of runs: all its columns that have a place. */
void run_row(const struct ui *ui, struct surface *surface, struct rect area, int y,
             const struct list_column *columns, const struct column_place *places,
             const struct state_run *run);
enum style run_status_style(enum run_status status);
/* Its status, with the place in the queue or what has been asked of it: "queued 2". */
enum style run_status_text(const struct ui *ui, const struct state_run *run, char *buffer,
                           size_t size);
/* Local date and time of seconds since 1970, "-" when not known: "11-20 17:14", or `whole`, with
 * year and seconds. */
void date_text(double seconds, bool whole, char *buffer, size_t size);
/* A run's tags, each behind a '#', and its note; returns how long that is. */
int run_words(const struct state_run *run, char *buffer, size_t size);
/* A line about the run in focus: its error, its note, or what it trains. */
void run_hint(const struct ui *ui, char *buffer, size_t size);
/* The text being typed, with its cursor always in sight. */
void draw_editor(const struct editor *editor, struct surface *surface, int y, int x, int w);

#endif
