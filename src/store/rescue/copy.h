/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* Runs from one store to another, both of the same version. */
struct store;

/* What became of the runs that were taken over. */
struct store_taken {
    long runs;         /* are there now */
    long renumbered;   /* others whose numbers these have, and which got new ones */
    long first_number; /* of these new ones */
    long unread;       /* could not be read */
};

/* When the run of a number was submitted, NAN where that is not known. ERROR_ABSENT: there is no
 * such run. */
bool store_submitted_at(struct store *store, long run, double *seconds, struct error *err);

/* Numbers up to `number` are not given again. */
bool store_raise_number(struct store *store, long number, struct error *err);

/* Give a run another number, which must be free; its events say the new one. */
bool store_renumber(struct store *store, long run, long number, struct error *err);

/* If `run` is in the store as another run, submitted at another time, that gets the next number. */
bool store_make_way(struct store *store, long run, double submitted_at, struct store_taken *taken,
                    struct error *err);

/* All that `from` has of a run, in place of what `to` has under that number. After a failure
 * (ERROR_ABSENT: `from` has no such run) `to` is as it was. */
bool store_copy_run(struct store *to, struct store *from, long run, struct error *err);

/* Take over the runs of `from`, all of them or none, but for those that cannot be read. */
bool store_take_all(struct store *to, struct store *from, struct store_taken *taken,
                    struct error *err);
