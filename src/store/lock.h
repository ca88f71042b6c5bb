/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "store/update.h"

/*
 * One writer at a time: a lock on the file STORE.lock, which ends with the process. *fd is the
 * caller's to close; -1 after a failure, since whoever has a descriptor counts as its owner.
 * ERROR_FAILED names the process that has it.
 */
bool store_lock(const char *store, int *fd, struct error *err);
/* The same; where it waits for a process that brings the store up to date, it shows how far that
 * is. `progress` may be NULL. */
bool store_lock_showing(const char *store, const struct store_progress *progress, int *fd,
                        struct error *err);
/* Write down who has the lock. `percent`, unless negative: only while it brings the store up to
 * date, and how far that is, so that others wait for it. */
void store_lock_sign(int fd, int percent);
/* An engine that has the lock writes down where it listens. */
void store_lock_say_socket(const char *store, const char *socket);
/*
 * False: an engine of this host, which listens elsewhere than at `socket`, has the lock; `err`
 * names it. For an engine that begins, and has the place of the socket (`ends` is not NULL), so it
 * does where the other one listened there: that will take its place back, unless its process *ends.
 */
bool store_check_engine(const char *store, const char *socket, bool *ends, struct error *err);
/* Does a process have it? */
bool store_is_locked(const char *store);
