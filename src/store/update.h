/* SPDX-License-Identifier: MIT */
#pragma once

#include "store/store.h"

/*
 * Files of older versions are brought up to date once, in one transaction per version: a process
 * that is killed on the way leaves the older version whole, and the next one starts again. Where it
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

/* As store_update, of a store that is known to be of an older version. */
bool store_update_now(const char *path, const struct store_progress *progress, struct error *err);
/* Make the tables of a new file, or bring an older one up to date. */
bool store_migrate(struct store *store, int version, struct error *err);
