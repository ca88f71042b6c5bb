/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/fetch/reporter.h"
#include "engine/fetch/set.h"

/* Bring `url` into the file `path` of exactly `size` bytes, from the end of what the
 * file holds already (*resumed: it held something that was kept). */
bool transfer_file(const char *url, const char *path, int64_t size,
                   const struct fetch_patience *patience, struct fetch_reporter *reporter,
                   bool *resumed, struct error *err);
