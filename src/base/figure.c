/* SPDX-License-Identifier: MIT */
#include "base/figure.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

/* Digits behind the point for three digits in all. */
static int decimals_for(double value)
{
    value = fabs(value);
    return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

/* What decimals would show too little or nothing of; false: it is none of that. */
static bool put_special(char *buffer, double value)
{
    if (!isfinite(value))
        snprintf(buffer, FIGURE_SIZE, "-");
    else if (value == 0)
        snprintf(buffer, FIGURE_SIZE, "0");
    else if (fabs(value) < 0.0995)
        snprintf(buffer, FIGURE_SIZE, "%#.2g", value);
    else
        return false;
    return true;
}

const char *figure_text_count(char *buffer, double value)
{
    static const char *const suffix[] = {"", "k", "M", "G", "T"};
    size_t i = 0;
    if (put_special(buffer, value))
        return buffer;
    for (; fabs(value) >= 999.5 && i + 1 < sizeof suffix / sizeof suffix[0]; i++)
        value /= 1000;
    if (fabs(value) >= 999.5)
        snprintf(buffer, FIGURE_SIZE, "%.0e", value * 1e12);
    else
        snprintf(buffer, FIGURE_SIZE, "%.*f%s", decimals_for(value), value, suffix[i]);
    return buffer;
}

const char *figure_text_seconds(char *buffer, double seconds)
{
    if (fabs(seconds) > 1e9)
        snprintf(buffer, FIGURE_SIZE, "%.2e", seconds);
    else if (!put_special(buffer, seconds))
        snprintf(buffer, FIGURE_SIZE, "%.*f", decimals_for(seconds), seconds);
    return buffer;
}
