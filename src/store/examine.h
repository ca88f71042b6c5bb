/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct store;

/* Whether an open file is a whole run store. UNKNOWN: it could not be found out; *err says why. */
enum store_condition { STORE_SOUND, STORE_DAMAGED, STORE_UNKNOWN };

/* From its header alone. A file that is neither empty nor a store of ours counts as damaged;
 * *version 0: nothing is in it yet. */
enum store_condition store_identify(struct store *store, int *version, struct error *err);

/*
 * What an engine reads when it starts, with `thorough` all of it. To quick_check a page that a
 * failing disk does not return is damage like any other, but the next disk or the next try may
 * return it. So damage is what was found twice in a file that can be read. `flags` open it again.
 */
enum store_condition store_examine_twice(struct store *store, bool thorough, int flags,
                                         struct error *err);

/* The name that a damaged store at `path` gets now; a new string, NULL: memory ran out. */
char *store_damaged_path(const char *path);

/* Move the closed file and what belongs to it out of the way, under a name that `notice` says. */
bool store_set_aside(struct store *store, char *notice, size_t notice_size, struct error *err);
