/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Bring the user's run store up to date if it is of an older version, and show on standard error
 * how far that is, before an engine is started or the store is read. What goes wrong is reported by
 * whoever opens the store next.
 */
void store_wait(void);
