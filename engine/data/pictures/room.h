/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "base/error.h"

/*
 * Remove from the folder of the cache's entry at `path` what is not worth its room: what killed
 * processes left, entries unused for 90 days, and then the longest unused until `size` bytes are at
 * most half of what is free on the disk. False, with *err: they would be more whatever is removed.
 */
bool room_make(const char *path, size_t size, struct error *err);
