/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/history/writer.h"
#include "store/store.h"

/*
 * Open the store at `path` for writing, mark what a crash left as interrupted, and read what an
 * engine has to know of earlier runs. Where damage is met, all of it is read and set aside if it is
 * damaged. *store is the caller's, also after a failure unless it is NULL.
 */
bool history_open(const char *path, struct engine_log *log, struct store **store,
                  struct stored_runs *past, struct error *err);
