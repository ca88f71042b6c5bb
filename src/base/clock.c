/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <math.h>
#include <stdio.h>

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double clock_seconds(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

double clock_thread_seconds(void)
{
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

double clock_date(void)
{
    return seconds_of(CLOCK_REALTIME);
}

const char *clock_date_text(char text[CLOCK_DATE_TEXT], double date)
{
    struct tm local;
    time_t seconds = isfinite(date) ? (time_t)date : 0;
    if (!isfinite(date) || !localtime_r(&seconds, &local) ||
        strftime(text, CLOCK_DATE_TEXT, "%Y-%m-%d %H:%M:%S", &local) == 0)
        snprintf(text, CLOCK_DATE_TEXT, "?");
    return text;
}
