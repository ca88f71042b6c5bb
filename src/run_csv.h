/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_RUN_CSV_H
#define DPARTUI_RUN_CSV_H

#include <jansson.h>
#include <stdbool.h>

#include "base/text.h"

/*
 * The epochs of runs (as `show` gives them), or with `points` the finer curve between them, as
 * comma-separated values (RFC 4180, but lines end as on Unix): a line of names, then one for each.
 * What is not known is empty. The caller looks at out->failed.
 */
void run_csv_put(const json_t *runs, bool points, struct text *out);

#endif
