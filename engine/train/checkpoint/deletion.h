/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/*
 * How a run's checkpoints go together with what the run store has of it, also when the engine is
 * killed meanwhile: they are marked, the run is deleted in the store, and then they are removed.
 * The store decides: marked checkpoints of a run that it has are whole.
 */

/* Mark those in `folder` by its name. A missing folder is fine. */
bool checkpoint_mark_deleted(const char *folder, struct error *err);

/* Once the run is deleted in the store for good: remove those that were in `folder`. */
bool checkpoint_remove_marked(const char *folder, struct error *err);

/*
 * Before the first run of an engine, in the folder that holds those of all runs: give marked ones
 * their name back where the store `has` the run, and else remove them. False: some could not be;
 * the first error is told.
 */
bool checkpoint_settle_deletions(const char *folder, bool (*has)(void *context, long run),
                                 void *context, struct error *err);
