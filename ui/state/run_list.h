/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "ui/draw/columns.h"
#include "ui/state/run_filter.h"
#include "ui/state/state.h"

/* Which runs are listed, and in which order. All zero: all of them, the newest first. */
struct run_list {
    enum run_column column; /* sorted by */
    bool ascending;
    char filter[RUN_FILTER_SIZE];
    int *lines; /* what stands in each line from the top: an index into the state's runs */
    int count, capacity;
    int at;                     /* the line that was in focus last */
    long apart;                 /* the run in focus when a filter began to be typed */
    unsigned long seen_version; /* of the runs, when it was last made sure that one is in focus */
    /* What the lines were made from. */
    unsigned long runs_version;
    enum run_column made_column;
    bool made_ascending, made;
    char made_filter[RUN_FILTER_SIZE];
};

/*
 * Filter and sort again if anything changed since the last time: n log n. The running run stands in
 * the first line, whatever the order, unless the filter has left it out. Runs of which the column
 * is not known come last in either direction, equal ones in order of their numbers, the newest
 * first. On failure the list stays as it was.
 */
bool run_list_update(struct run_list *list, const struct state *state, struct error *err);
/* Why the filter fits none, in a line; false: there is nothing wrong with it (run_filter_problem).
 */
bool run_list_problem(const struct run_list *list, const struct state *state, char *buffer,
                      size_t size);
/* The line of a run, -1: it is not in the list. */
int run_list_find(const struct run_list *list, const struct state *state, long run);
/* The run in a line; NULL outside. */
const struct state_run *run_list_run(const struct run_list *list, const struct state *state,
                                     int line);
/* Sort by a column, in the direction that shows the best or newest first. */
void run_list_sort(struct run_list *list, enum run_column column);
/* By the next of those that are shown, of which there is one at least. */
void run_list_next_column(struct run_list *list, const struct run_columns *shown);
/* How the lines are sorted, in words: "highest first". */
const char *run_list_direction(const struct run_list *list);
void run_list_free(struct run_list *list);
