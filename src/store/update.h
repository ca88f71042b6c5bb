/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_STORE_UPDATE_H
#define DPARTUI_STORE_UPDATE_H

#include "store/store.h"

/*
 * Files of older versions are brought up to date once, in one transaction per version: a process
 * that is killed on the way leaves the older version whole, and the next one begins anew. Where it
 * takes some time, how far that is can be shown; the lock file says so, too, for those who wait.
 */
struct store_progress {
    void (*show)(void *context, int percent); /* ascending, from 0 to 100 */
    void *context;
};

/*
 * Bring the store at `path` up to date if it is of an older version, or wait for the process that
 * does so. True as well where there is none, and of one that is no older store, whatever it is.
 * `progress` may be NULL. ERROR_FAILED: it is damaged, and stays as it is, ...
 */
bool store_update(const char *path, const struct store_progress *progress, struct error *err);

/* As store_open, and show the progress. */
bool store_open_showing(const char *path, const struct store_progress *progress, struct store **out,
                        char *notice, size_t notice_size, struct error *err);

#endif
