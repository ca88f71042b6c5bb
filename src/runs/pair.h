/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

/* Two runs side by side: what they gave, and the settings in which they differ, with their live
 * changes. Both are run objects as `show` has them; of their rows those of "retunes" are used. */

/* As a table on standard output. */
bool run_pair_print(const json_t *const *runs, struct error *err);
/* As JSON there: every member an array of two values. */
bool run_pair_print_json(const json_t *const *runs, struct error *err);
