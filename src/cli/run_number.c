/* SPDX-License-Identifier: MIT */
#include "cli/run_number.h"

#include <limits.h>

#include "base/text.h"

bool run_number_parse(const char *text, long *number, struct error *err)
{
    return parse_long(text, 1, LONG_MAX, number) ||
           error_set(err, ERROR_USAGE, "'%.60s' is not the number of a run (see dpartui runs)",
                     text);
}
