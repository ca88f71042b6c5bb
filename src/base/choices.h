/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/*
 * A file of choices that were measured before: text, one line per choice, newest last. The first
 * three fields of a line, parted by tabs, are its key; the choice follows them.
 *
 * A line that is not understood is as good as not there, and so is a file that cannot be read. The
 * file is replaced as a whole, so readers see the old or the new one. Threads and processes may
 * write at the same time: they take turns by a lock on the file FILE.lock, or, when that cannot be
 * had within two seconds, take the chance of dropping each other's choice.
 */
#define CHOICES_LIMIT 4096 /* the oldest are dropped */

struct choices {
    const char *path;
    const char *heading;                  /* first line, "# ...\n" */
    bool (*understood)(const char *text); /* is this a valid choice? */
};

/* What was chosen for `key`, a new string the caller frees; NULL: nothing, or no memory. */
char *choices_find(const struct choices *file, const char *key);

/* Put a choice in place of any with this key; NULL: only drop that. Folders are made. */
bool choices_put(const struct choices *file, const char *key, const char *choice,
                 struct error *err);

/* $XDG_CACHE_HOME/dpartui/NAME, a new string the caller frees; NULL with *err filled. */
char *choices_path(const char *name, struct error *err);
