/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"
#include "engine/data/picture/picture.h"
#include "engine/data/pictures/watch.h"

/* What is done with every picture of many. */
struct crew_work {
    long count;
    /* Item `item` of 0..count-1, on a thread that has this reader for itself; false ends it all. */
    bool (*item)(void *context, struct picture_reader *reader, long item, struct error *err);
    void *context;
};

/*
 * All items, in ascending order but side by side on all processors that this process may use.
 * Returns when no thread is left. *err is that of the first item that failed, or ERROR_CANCELLED
 * when `watch` said so.
 */
bool crew_run(const struct crew_work *work, const struct data_watch *watch, struct error *err);
