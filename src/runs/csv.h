/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "output/stream.h"
#include "runs/view.h"

/*
 * The epochs of runs, or with `points` the finer curve between them, as comma-separated values (RFC
 * 4180, but lines end as on Unix): a line of names, then one for each. What is not known is empty.
 */
bool run_csv_put(const struct run_view *views, int count, bool points, struct stream *output,
                 struct error *err);

/* The epochs of runs as `show` has answered them, whose rows are taken out, as such a file. */
bool run_csv_write(const char *path, json_t *const *shown, int count, struct error *err);
