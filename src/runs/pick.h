/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "store/list.h"

/* Which runs a list shows, and in which order. Pure functions of run objects. */

/* Does a run suit the filter (all but its limit)? In the same way as store_list finds them. */
bool run_pick_matches(const json_t *run, const struct store_filter *filter);

/*
 * As store_list has it, of filter->sort and its limit alone: equal ones oldest first, those of
 * which it is not known last.
 */
bool run_pick_sort(json_t *runs, const struct store_filter *filter, struct error *err);

/* filter->sort and ->descending from a key such as "acc", with '-' before it for the highest or
 * latest first. ERROR_USAGE: there is no such key. */
bool run_pick_key_named(const char *text, struct store_filter *filter, struct error *err);

/* The keys, "run" first; NULL after the last. */
const char *run_pick_key(size_t index);

/*
 * A time, as seconds since 1970: "2026-11-20", "2026-11-20 14:30" (local time), or so long before
 * `now`: "30m", "12h", "7d", "2w". `end`: a day without a time means its end, not its beginning.
 * ERROR_USAGE: it is none.
 */
bool run_pick_time(const char *text, double now, bool end, double *out, struct error *err);
