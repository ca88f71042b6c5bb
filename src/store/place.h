/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* $XDG_DATA_HOME/dpartui/runs.db; a new string the caller frees. */
char *store_default_path(struct error *err);

/*
 * Make the folder of the store at *path, and replace *path (malloc'd) by one without the symbolic
 * links that lead there. Such links are normal (a home on another disk, a folder per cluster), but
 * SQLite, which is told to follow none so that no link can take the file's own place, refuses them
 * in any part of a path. ERROR_FAILED: the file itself is a link, or the folder is one in which
 * other users could replace it.
 */
bool store_settle_path(char **path, struct error *err);
