/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/panels/panel.h"

enum { RUN_WORDS = 800 }; /* bytes of all tags and the note, each '#' counted */

/* One run in one column: the text into `buffer`, of at most RUN_WORDS, and its style. */
enum style run_cell(const struct ui *ui, const struct state_run *run, enum run_column column,
                    char *buffer, size_t size);
/* A line of a list of runs: all its columns that have a place. */
void run_row(const struct ui *ui, struct surface *surface, struct rect area, int y,
             const struct list_column *columns, const struct column_place *places,
             const struct state_run *run);
/* Columns that say something of any run: that of rows only where one does not use all, those of
 * energy where it was measured. */
struct run_columns run_columns_usual(const struct ui *ui);
/* Those that the user has chosen for the list of all runs, or else the usual ones. */
struct run_columns run_columns_wanted(const struct ui *ui);
/* Which of a list's columns are shown: those that say something or, where the user has chosen,
 * `all`. `chosen` has room for RUN_COLUMNS. */
void run_columns_choose(const struct ui *ui, const struct list_column *columns, bool all,
                        struct list_column *chosen);
enum style run_status_style(enum run_status status);
/* Its status, with the place in the queue or what has been asked of it: "queued 2". */
enum style run_status_text(const struct ui *ui, const struct state_run *run, char *buffer,
                           size_t size);
/* Local date and time of seconds since 1970, "-" when not known: "11-20 17:14", or `whole`, with
 * year and seconds. */
void date_text(double seconds, bool whole, char *buffer, size_t size);
/* A line about the run in focus: its error, its note, or what it trains. */
void run_hint(const struct ui *ui, char *buffer, size_t size);
