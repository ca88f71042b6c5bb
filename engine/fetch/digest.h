/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/fetch/reporter.h"
#include "engine/fetch/set.h"

/* Is the file's SHA-256 the expected one? *equal is set when true is returned. */
bool digest_compare(const char *path, const struct fetch_file *file,
                    struct fetch_reporter *reporter, bool *equal, struct error *err);
