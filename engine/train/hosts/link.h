/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "spec/hosts.h"

/* What viewers see of a device besides the run. */
struct device_load {
    double load;                        /* 0 to 1; NAN: not known */
    uint64_t memory_used, memory_total; /* bytes, of its machine where it is a CPU; 0: not known */
};

/*
 * What joins the processes of a run over several hosts, one on each: what dpartui-rank makes of MPI
 * (engine/hosts), or a test of threads.
 *
 * All hosts do the same run and call the same functions in the same order. A call ends when the
 * others have made it, too, or with an error: once a host has failed, or has not been heard from
 * for the run's host_limit (ERROR_LOST), all calls fail with the reason, which names it. One of
 * gather, broadcast and sum_end is under way at a time, on whatever thread; sums go on beside them.
 */
struct host_link {
    struct host_list hosts;
    int index; /* which of them this is */
    void *context;

    /* all[i * bytes ...] = what host i has as its own. */
    bool (*gather)(void *context, const void *own, size_t bytes, void *all, struct error *err);
    /* What `root` has in data goes to all. */
    bool (*broadcast)(void *context, int root, void *data, size_t bytes, struct error *err);

    /* Begin to replace `values` by their sums over all hosts, which each of them gets bit by bit
     * alike, or, not `everywhere`, host 0 alone: elsewhere they then stay. They belong to the link
     * until sum_end, which waits for all that was begun. */
    bool (*sum_begin)(void *context, float *values, size_t count, bool everywhere,
                      struct error *err);
    bool (*sum_end)(void *context, struct error *err);

    /* For how long, all in all, sums have been under way. Any thread. */
    double (*summed_s)(void *context);

    /* From host 0 to all, at once: leave the evaluation. Any thread. */
    void (*cut)(void *context);
    bool (*is_cut)(void *context);
    /* Tell the others that this host has failed. Only the first reason counts. Any thread. */
    void (*fail)(void *context, const struct error *reason);
    /* What the sensors here say of a device of this host; NULL: there are none. */
    void (*sense)(void *sensors, struct device_id id, struct device_load *load);
    void *sensors;
    /* Has one failed? Then false, with the reason. Any thread, at once. */
    bool (*check)(void *context, struct error *err);
};
