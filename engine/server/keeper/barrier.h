/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_SERVER_KEEPER_BARRIER_H
#define DPARTUI_ENGINE_SERVER_KEEPER_BARRIER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/*
 * How others wait until a thread has put on disk what it had been handed by then. All functions but
 * barrier_init and barrier_free are called with the lock that guards the work of that thread.
 */
struct barrier {
    pthread_cond_t changed;
    uint64_t asked, met;  /* barriers so far; those up to `met` have had their answer */
    struct error failure; /* of the newest answer; ERROR_NONE: it was success */
};

bool barrier_init(struct barrier *barrier, struct error *err);
void barrier_free(struct barrier *barrier);

/* Is the thread to hurry? */
bool barrier_pending(const struct barrier *barrier);

/*
 * Wait for all that was handed over before, `seconds` at most; `lock` is released meanwhile, and
 * the thread has to be woken by the caller. False with *err: it is not on disk. While the newest
 * answer was a failure, or none comes, that is said at once, so that a disk that hangs or is full
 * costs its waiters the time once.
 */
bool barrier_wait(struct barrier *barrier, pthread_mutex_t *lock, double seconds,
                  struct error *err);

/* The thread's answer to the barriers up to number `asked`; `failure` of kind ERROR_NONE: all that
 * was handed over before them is on disk. */
void barrier_answer(struct barrier *barrier, uint64_t asked, const struct error *failure);

#endif
