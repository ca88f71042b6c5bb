/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_FETCH_DIGEST_H
#define DPARTUI_ENGINE_FETCH_DIGEST_H

#include "engine/fetch/reporter.h"
#include "engine/fetch/set.h"

/* Is the file's SHA-256 the expected one? *equal is set when true is returned. */
bool digest_compare(const char *path, const struct fetch_file *file,
                    struct fetch_reporter *reporter, bool *equal, struct error *err);

#endif
