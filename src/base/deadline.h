/* SPDX-License-Identifier: MIT */
#pragma once

#include <pthread.h>
#include <time.h>

/* Condition variables that wait on the monotonic clock, which nobody sets back or forward. */

static inline int deadline_cond_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    int status = pthread_condattr_init(&attributes);
    if (status != 0)
        return status;
    status = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (status == 0)
        status = pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
    return status;
}

/* The moment `seconds` from now, for pthread_cond_timedwait. */
static inline struct timespec deadline_after(double seconds)
{
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    moment.tv_sec += (time_t)seconds;
    moment.tv_nsec += (long)(1e9 * (seconds - (double)(time_t)seconds));
    if (moment.tv_nsec >= 1000000000L) {
        moment.tv_sec++;
        moment.tv_nsec -= 1000000000L;
    }
    return moment;
}
