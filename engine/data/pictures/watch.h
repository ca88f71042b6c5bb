/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* Whoever waits for data, and may not want them any more. */
struct data_watch {
    /* `done` of `total` pictures are read; total 0: waiting. Called on the waiting thread, at
     * least every tenth of a second. False ends it with ERROR_CANCELLED. */
    bool (*tick)(void *context, long done, long total);
    void *context;
};

/* As tick; NULL, and a watch without one, let everything continue. */
static inline bool data_watch_tick(const struct data_watch *watch, long done, long total)
{
    return !watch || !watch->tick || watch->tick(watch->context, done, total);
}
