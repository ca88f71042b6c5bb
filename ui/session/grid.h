/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/noted.h"
#include "experiment/table.h"
#include "ui/state/state.h"

struct ui;

/*
 * The runs that the compare view sets side by side where its anchor is of a study of settings, of
 * the workbench or of the command compare: a line for each combination of values, over the seeds.
 * Rebuilt from the state whenever it is needed; text and measures in it belong to the state.
 */
enum { GRID_RUNS = 120 }; /* fewer than the curves that are known at a time */

struct grid {
    const struct state_run *anchor;
    struct study study; /* as far as notes say it: without specs; its entries are `entry` */
    struct study_table table;
    char value[STUDY_VARIANTS][STUDY_VARIED][NOTED_VALUE];
    int count; /* runs, by rising number */
    const struct state_run *run[GRID_RUNS];
    struct study_run measured[GRID_RUNS];
    struct study_entry entry[GRID_RUNS];
    bool more; /* there are more runs than GRID_RUNS, which are left out */
};

/* Is the anchor's study one of settings? Short of memory there are no numbers. */
bool grid_make(const struct ui *ui, struct grid *grid);
/* The same by its note alone. */
bool grid_is_shown(const struct ui *ui);
/* `want` the epochs of each of its runs. */
void grid_want(struct ui *ui, void (*want)(struct ui *ui, long run));

/* The line in focus: that of the selected run; -1: none. */
int grid_line(const struct ui *ui, const struct grid *grid);
/* The run of a line that keys are about: the first that has not ended, else the first; 0: there is
 * no such line. */
long grid_run(const struct grid *grid, int line);
/* Runs of a line that are known. */
int grid_line_runs(const struct grid *grid, int line);
/* Seconds until all its runs have ended; NAN: not known. */
double grid_seconds_left(const struct ui *ui, const struct grid *grid);
