/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/*
 * Room on the disk for the most important writes: a file STORE.reserve that is removed when the
 * disk is full, so that how runs ended can still be written.
 */

/* Make it, unless it is there. Without it, on a disk that is full already, nothing is reserved. */
void store_reserve_make(const char *store);
/* Remove it. False: there was none. */
bool store_reserve_release(const char *store);
