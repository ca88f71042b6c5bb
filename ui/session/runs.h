/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "ui/state/state.h"

struct ui;

/* Which run keys are about. */

/* Of the marked runs the chart shows the UI_MARKS_DRAWN first ones. UI_MARKS are more than an
 * answer to `runs` has room for, and as many as the engine's `checkpoints` takes. */
enum { UI_MARKS = 2048, UI_MARKS_DRAWN = 8 };
bool ui_is_marked(const struct ui *ui, long run);
/* Mark a run, unless there are UI_MARKS, or take its mark away. */
void ui_toggle_mark(struct ui *ui, long run);
/* How many marked runs the chart shows. */
int ui_marks_drawn(const struct ui *ui);

struct run_group {
    long run[UI_MARKS]; /* rising */
    int count;
};
/* The runs that a key deletes, tags or exports: in the list of runs the marked ones, if there are
 * any, else the selected one. */
struct run_group ui_runs_chosen(const struct ui *ui);
bool run_group_has(const struct run_group *group, long run);
/* "4, 7, 9", each number after `sign`; "4, 7 and 12 more" where `size` has no room for all. */
void run_group_text(const struct run_group *group, const char *sign, char *buffer, size_t size);
/* {"runs":[4,7,9]} */
json_t *run_group_json(const struct run_group *group);

/* The run in line `line` of the dashboard's list: the running one, then the newest first; NULL
 * after the last. */
const struct state_run *ui_run_line(const struct ui *ui, int line);
/* The line of a run; -1: there is no such run. */
int ui_line_of_run(const struct ui *ui, long run);
/* The first of them where none is selected: a view of one was opened by its name. */
void ui_select_any_run(struct ui *ui);
/*
 * The run that keys stop, pause or change: where runs are in focus the selected one unless it has
 * ended, else the running one; 0: none. In the views of runs it is never another than the selected
 * one.
 */
long ui_run_in_question(const struct ui *ui);

/* Runs that are being deleted, also by several questions. */
struct run_deletion {
    int asked, answered, failed; /* of how many requests; asked 0: nothing is being deleted */
    long run;                    /* the newest; where it is the only one, its number is said */
};

/* Write the epochs of runs, whole or not at all, from the answers to `show`, whose rows are taken
 * out of them. */
typedef bool run_writer(const char *path, json_t *const *shown, int count, struct error *err);

/* A file that they are written to once the engine has answered for each. */
struct run_export {
    run_writer *write; /* the workbench itself knows no files; NULL: it cannot */
    char path[1024];   /* "": nothing is being exported */
    struct run_group runs;
    json_t *shown[UI_MARKS]; /* of each of these runs; NULL: not yet */
};
/* Nothing is being exported any more. */
void run_export_end(struct run_export *exported);
