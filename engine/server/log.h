/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_SERVER_LOG_H
#define DPARTUI_ENGINE_SERVER_LOG_H

/*
 * The engine's own messages. A regular file starts anew when it has grown long; a log that cannot
 * be written is no reason to fail.
 */
struct engine_log {
    int fd; /* opened for appending; -1: silent */
};

/* One dated line. Any thread. */
void engine_log(const struct engine_log *log, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
