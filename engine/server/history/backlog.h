/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "engine/server/history/store_work.h"

/*
 * What waits to be written into the run store. It is bounded, for a disk may take nothing for days:
 * epochs are thinned (thinning.h), of other events and of points the newest are lost. What each run
 * has once (how it stands, its "run" and its "end" event, the newest state replacing the one
 * before) and what viewers ask for always has a place.
 */
struct backlog {
    struct store_work_list states; /* of runs, one each; they are written first */
    struct store_work_list work;   /* all else, in the order in which it was handed over */
    long epochs, others;           /* bounded ones */
    size_t bytes;                  /* that the texts of the epochs take */
    long stride;                   /* by which epochs were thinned; 0: not yet */
    long thinned, lost;            /* epochs that were left out; what had no place */
};

/*
 * Epochs that wait, and bytes of them; points and events besides. A disk that is slow to sync takes
 * nothing for seconds, in which the fastest runs have 10,000 epochs each.
 */
#define BACKLOG_EPOCHS 50000
#define BACKLOG_BYTES  ((size_t)48 << 20)
#define BACKLOG_OTHERS 20000

/* An all-zero backlog is empty. */
bool backlog_is_empty(const struct backlog *backlog);
/* Takes over `work`. */
void backlog_add(struct backlog *backlog, struct store_work *work);
/* Put back what could not be written, before what was handed over meanwhile. */
void backlog_return(struct backlog *backlog, struct backlog *unwritten);

/* Parts of it that may have room on a disk where all of it has not. */
enum backlog_part {
    BACKLOG_ALL,
    BACKLOG_STATES, /* how runs stand, and which are deleted */
    BACKLOG_ENDS,   /* that, and their "end" events */
};

/* How many runs have ended or were deleted since it was empty. */
long backlog_ends(const struct backlog *backlog);

/* In one transaction; the backlog stays as it is. False: nothing was written, and *err says why. */
bool backlog_write(const struct backlog *backlog, enum backlog_part part, struct store *store,
                   struct error *err);
void backlog_clear(struct backlog *backlog);
