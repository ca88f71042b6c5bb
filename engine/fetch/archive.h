/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/fetch/reporter.h"

/*
 * Unpack the regular files of FOLDER/ in the tar.gz `path` (`name` in messages) into
 * the existing directory `target`. Anything else in the archive is refused: other folders, absolute
 * paths, "..", links, devices, sparse files, names twice, too many or too large members.
 */
bool archive_unpack(const char *path, const char *folder, const char *target,
                    struct fetch_reporter *reporter, struct error *err);
