/* SPDX-License-Identifier: MIT */
#pragma once

#include <time.h>

/* Seconds on the monotonic clock: for durations and deadlines, never for dates. */
double clock_seconds(void);

/* Seconds of the processor that the calling thread has had. */
double clock_thread_seconds(void);

/* Seconds since 1970: for dates. */
double clock_date(void);

/* Such a date in local time as "2026-11-22 20:09:27" in `text`, which is returned; "?" for what is
 * no date. */
#define CLOCK_DATE_TEXT 32
const char *clock_date_text(char text[CLOCK_DATE_TEXT], double date);
