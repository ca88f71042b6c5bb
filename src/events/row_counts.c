/* SPDX-License-Identifier: MIT */
#include "events/row_counts.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/figure.h"

const char *row_counts_text(double train, double test, char *buffer, size_t size)
{
    struct figure first, second;
    const bool tests_some = isfinite(test);
    snprintf(buffer, size, "%s%s%s", isfinite(train) ? figure_whole(&first, train) : "all",
             tests_some ? "/" : "", tests_some ? figure_whole(&second, test) : "");
    return buffer;
}
