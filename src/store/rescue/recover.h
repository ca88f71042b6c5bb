/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/*
 * Read a damaged database page by page, as SQLite's own recovery does
 * (https://www.sqlite.org/recovery.html), into the new database FOLDER/recovered.db: the tables
 * that are still known, and the rows of unknown tables in `lost_and_found`. The damaged file is
 * copied first, with its write-ahead log, and stays as it is: in all there is room for three times
 * its size needed. The work is done by two sqlite3 shells, since the library has no recovery.
 */
bool store_recover(const char *damaged, const char *folder, struct error *err);
