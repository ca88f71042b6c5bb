/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/*
 * Bring the user's run store up to date if it is of an older version, and show on standard error
 * how far that is, before an engine is started or the store is read. What goes wrong is reported by
 * whoever opens the store next.
 */
void store_wait(void);

/* False: no engine of ours runs, and one that is started would refuse, as another one has the
 * store. To be asked before it is: an engine's reason is in its log only. */
bool store_is_ours(struct error *err);
