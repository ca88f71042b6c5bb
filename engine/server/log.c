/* SPDX-License-Identifier: MIT */
#include "engine/server/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOG_LIMIT ((off_t)1 << 20)

void engine_log(const struct engine_log *log, const char *format, ...)
{
    struct stat info;
    if (log->fd < 0)
        return;
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
    if (fstat(log->fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > LOG_LIMIT &&
        ftruncate(log->fd, 0) != 0)
        return;
    if (write(log->fd, line, length) < 0)
        return;
}
