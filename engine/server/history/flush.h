/* SPDX-License-Identifier: MIT */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/*
 * How others wait until a thread has put on disk what it had been handed by then. All functions but
 * flush_init and flush_free are called with the lock that guards the work of that thread.
 */
struct flush {
    pthread_cond_t changed;
    uint64_t asked, met;  /* requests so far; those up to `met` have had their answer */
    struct error failure; /* of the newest answer; ERROR_NONE: it was success */
};

bool flush_init(struct flush *flush, struct error *err);
void flush_free(struct flush *flush);

/* Is the thread to hurry? */
bool flush_pending(const struct flush *flush);

/*
 * Wait for all that was handed over before, `seconds` at most; `lock` is released meanwhile, and
 * the thread has to be woken by the caller. False with *err: it is not on disk. While the newest
 * answer was a failure, or none comes, that is said at once, so that a disk that hangs or is full
 * costs its waiters the time once.
 */
bool flush_wait(struct flush *flush, pthread_mutex_t *lock, double seconds, struct error *err);

/* The thread's answer to the requests up to number `asked`; `failure` of kind ERROR_NONE: all that
 * was handed over before them is on disk. */
void flush_answer(struct flush *flush, uint64_t asked, const struct error *failure);
