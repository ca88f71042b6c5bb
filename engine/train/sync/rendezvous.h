/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_TRAIN_SYNC_RENDEZVOUS_H
#define DPARTUI_ENGINE_TRAIN_SYNC_RENDEZVOUS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * Where the worker threads of a run meet: a barrier that can be called off. Once aborted it stays
 * so: everybody waiting, and everybody who comes later, gets the reason as an error.
 */
struct rendezvous;

/*
 * For `parties` threads. A party that has waited for `limit_s` seconds calls the whole meeting off
 * and names the missing ones; `names[i]` (borrowed) are the parties' names for that. With `spin`,
 * waiting begins with a short busy loop, which only pays when every party has a core of its own.
 */
bool rendezvous_create(int parties, const char *const *names, double limit_s, bool spin,
                       struct rendezvous **out, struct error *err);
void rendezvous_destroy(struct rendezvous *meeting);

/* Wait until every party has come. Adds the seconds spent waiting to *waited. */
bool rendezvous_wait(struct rendezvous *meeting, int party, double *waited, struct error *err);

/*
 * Replace values[0..count) by their sums over all parties, added in the order of the parties, so
 * that everybody gets the same bits. `count` must be the same everywhere. Adds to *waited as above.
 */
bool rendezvous_sum(struct rendezvous *meeting, int party, double *values, size_t count,
                    double *waited, struct error *err);

/*
 * Call the meeting off; only the first call counts. `culprit` is the party to blame, -1 when it is
 * none of them. Any thread.
 */
void rendezvous_abort(struct rendezvous *meeting, int culprit, const struct error *reason);

/* Is this party waiting for others at this moment? Any thread. */
bool rendezvous_waiting(struct rendezvous *meeting, int party);

/* Has the meeting been called off? Any thread, at once. */
bool rendezvous_called_off(const struct rendezvous *meeting);

/* The same; then *culprit and *reason are filled. Any thread. */
bool rendezvous_aborted(struct rendezvous *meeting, int *culprit, struct error *reason);

#endif
