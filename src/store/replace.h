/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * A store whose file is removed, moved away or replaced (by a backup) while it is open for writing.
 * What is open stays readable as it was; what is written into it reaches nobody.
 */
struct store;
struct store_identity;

/* Note which files are at `path`, of a store that has just been opened for writing. */
void store_identity_take(const char *path, struct store_identity *identity);

/* Are these no longer the files at `path`? No call of SQLite: on any thread. A file that cannot be
 * examined counts as the same. */
bool store_identity_left(const char *path, const struct store_identity *identity);
/* The same of a store that is open for writing, which another thread may be using. */
bool store_has_left_path(const struct store *store);

/* Is the file that `store` has open no longer the one at its path? On the store's own thread: it
 * waits for what the connection does. */
bool store_is_replaced(const struct store *store);

/*
 * Have the lock on the lock file that is there now; *renewed becomes true when it is another one:
 * meanwhile another process may have written. ERROR_FAILED: another process has the lock.
 */
bool store_renew_lock(struct store *store, bool *renewed, struct error *err);

/*
 * Open or create, as store_open, what is at the path of a replaced store now. `old` can still be
 * read then, and the caller closes it; it must have no transaction open. Its write-ahead
 * log is moved into its own file first and taken away from the path: SQLite knows logs by their
 * paths, and would apply this one to the new file. After a failure it may be called again.
 */
bool store_open_again(struct store *old, struct store **out, char *notice, size_t notice_size,
                      struct error *err);

/* Before a store that is open for writing is closed: its log becomes empty, unless that is not its
 * own any more. Readers cannot do it later. */
void store_finish_writing(struct store *store);
