/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/*
 * Whether a store is whole is only known after all of it was read, which takes seconds where it
 * holds many runs. So that is done only where there is a reason, which the file PATH.check next to
 * the store at `path` remembers:
 *
 * - unchecked: an engine was killed, as the write-ahead log it left shows. The store is
 *   read through while the next engine is in use (inspect.h); until that has reached the end, the
 *   mark remains.
 * - doubted: damage was met or found. The store is read through when it is next opened for writing,
 *   and set aside if it is damaged.
 *
 * Without the mark, damage is found when it is met again, so a mark that cannot be made is no
 * error.
 */
void store_doubt(const char *path);
bool store_is_doubted(const char *path);

/* Before it is opened for writing: mark it as unchecked if there is a log. */
void store_mark_unclean_end(const char *path);
bool store_is_unchecked(const char *path);

/* It was read through and is whole, or gone: no mark. */
void store_trust(const char *path);
