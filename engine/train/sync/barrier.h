/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * A barrier of the threads of a run that can be aborted. Once aborted it stays so: all that wait,
 * and all that come later, get the reason as an error.
 */
struct barrier;

/*
 * For `parties` threads. A party that has waited for `limit_s` seconds aborts the barrier and
 * names the missing ones; `names[i]` (borrowed) are the parties' names for that. With `spin`,
 * waiting begins with a short busy loop, which only pays when each party has its own core.
 */
bool barrier_create(int parties, const char *const *names, double limit_s, bool spin,
                    struct barrier **out, struct error *err);
void barrier_destroy(struct barrier *barrier);

/* Wait until every party has come. Adds the seconds spent waiting to *waited. */
bool barrier_wait(struct barrier *barrier, int party, double *waited, struct error *err);

/*
 * Replace values[0..count) by their sums over all parties, added in the order of the parties, so
 * that all get identical results. `count` must be the same everywhere. Adds to *waited as above.
 */
bool barrier_sum(struct barrier *barrier, int party, double *values, size_t count, double *waited,
                 struct error *err);

/*
 * Abort the barrier; only the first call counts. `culprit` is the party to blame, -1 when it is
 * none of them. Any thread.
 */
void barrier_abort(struct barrier *barrier, int culprit, const struct error *reason);

/* Is this party waiting for others at this moment? Any thread. */
bool barrier_waiting(struct barrier *barrier, int party);

/* Any thread, at once. */
bool barrier_is_aborted(const struct barrier *barrier);

/* Has it been aborted? Then *culprit and *reason are filled. Any thread. */
bool barrier_abort_reason(struct barrier *barrier, int *culprit, struct error *reason);
