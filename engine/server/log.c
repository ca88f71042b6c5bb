/* SPDX-License-Identifier: MIT */
#include "engine/server/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

void engine_log(const char *format, ...)
{
    char line[1400];
    struct tm now;
    time_t seconds = time(NULL);
    size_t length = 0;
    if (localtime_r(&seconds, &now))
        length = strftime(line, sizeof line, "%Y-%m-%d %H:%M:%S ", &now);
    va_list args;
    va_start(args, format);
    int more = vsnprintf(line + length, sizeof line - length - 1, format, args);
    va_end(args);
    if (more < 0)
        return;
    length += (size_t)more < sizeof line - length - 1 ? (size_t)more : sizeof line - length - 2;
    line[length++] = '\n';
    /* One write: lines of several threads do not mix. */
    if (write(STDERR_FILENO, line, length) < 0)
        return;
}
