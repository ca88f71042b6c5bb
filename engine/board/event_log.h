/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * A file of events, one JSON object per line. Each line is handed to the system at once. When a
 * line cannot be written (a full disk, say), training matters more than its log: the file keeps its
 * whole lines, logging ends, and `failure` says why.
 */
struct event_log {
    int fd; /* -1: not open */
    off_t length;
    struct error failure; /* kind ERROR_NONE: none */
};

#define EVENT_LOG_INIT                                                                             \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/* Truncate or create the file. */
bool event_log_open(struct event_log *log, const char *path, struct error *err);
void event_log_put(struct event_log *log, const json_t *event);
void event_log_close(struct event_log *log);
