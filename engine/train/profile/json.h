/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "engine/train/profile/metrics.h"
#include "engine/train/profile/profile.h"

/*
 * The "profile" event of docs/protocol.md. So that it stays below 200 KiB, the least operations of
 * very large networks become one, "others". NULL: memory ran out.
 */
json_t *profile_json(const struct profile *profile, const char *const *names, int count);

/* B_simple, as events have it: null where it cannot be told. NULL: the epoch did not measure it, or
 * memory ran out. */
json_t *noise_json(const struct metrics *metrics);
