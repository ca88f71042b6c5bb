/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Which checkpoints lie in a run's folder, by the names of its files alone. */

/* $XDG_DATA_HOME/dpartui/checkpoints, in which each run has a folder; the caller frees it. */
char *checkpoint_default_folder(struct error *err);

/* Path of a checkpoint's weights and of its optimizer's state; new strings the caller frees, NULL:
 * memory ran out. */
char *checkpoint_path(const char *folder, long steps);
char *checkpoint_state_path(const char *folder, long steps);

/* The steps of the newest checkpoint in `folder`. ERROR_ABSENT: there is none. */
bool checkpoint_find(const char *folder, long *steps, struct error *err);
/* Of the newest one before `before` steps. */
bool checkpoint_find_before(const char *folder, long before, long *steps, struct error *err);

/* Of all that are in `folder`, in any order; a new array. A missing folder has none. */
bool checkpoint_list(const char *folder, long **steps, size_t *count, struct error *err);

/* Which checkpoints are kept besides the newest; -1: none. */
struct checkpoint_kept {
    long previous; /* of this run, in case the newest is damaged one day */
    long best;     /* by validation or test accuracy */
};

/* Add up how many there are in `folder` and the bytes of their files. A missing folder has none. */
bool checkpoint_measure(const char *folder, long *count, double *bytes, struct error *err);

/*
 * After the one of `newest` steps was written: remove those before it that are not to be kept,
 * and what a killed writer left. Those of more steps stay if there is a previous one: the run was
 * resumed from that because they are damaged, and replaces them as it passes them. Without one they
 * are of another run, which had the folder before.
 */
bool checkpoint_remove_older(const char *folder, long newest, const struct checkpoint_kept *kept,
                             struct error *err);

/*
 * Before the first run of an engine, in the folder that holds those of all runs: clear away what a
 * killed writer left, as far as that can be done, and raise *run to the highest number that a
 * folder has. No new run may have the number of one whose checkpoints are there.
 */
bool checkpoint_tidy(const char *folder, long *run, struct error *err);

/* Remove all checkpoints and the folder, if nothing else is in it. Missing ones are fine. */
bool checkpoint_remove_all(const char *folder, struct error *err);
