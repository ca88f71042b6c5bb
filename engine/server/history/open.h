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

/*
 * Write down at the store that this engine, which listens on `socket`, has it, if it is its own:
 * history_start has given a history. False: another engine of this host has; two of them would give
 * the same numbers to their runs. One that was killed is waited for: it has the store until its
 * drivers have released it. `path` may be NULL.
 */
bool history_claim(bool own, const char *path, const char *socket, struct error *err);
