/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The engine's own messages: the newest are kept for viewers, and all are written to a file by the
 * server's thread, so that nobody who has something to say waits for a slow disk. A file of its
 * own starts again when it has grown long; a log that cannot be written is no reason to fail.
 */

#define ENGINE_LOG_KEPT 500

enum message_level { MESSAGE_INFO, MESSAGE_WARNING, MESSAGE_ERROR };

struct engine_message {
    double time; /* seconds since 1970 */
    enum message_level level;
    long run;   /* 0: of none */
    char *text; /* NULL: memory ran out for it */
};

struct engine_log {
    int fd;   /* opened for appending; -1: none */
    bool own; /* nobody else's file: it is emptied when it becomes too long */
    void (*changed)(void *context);
    void *context;
    pthread_mutex_t lock;                        /* guards the rest */
    struct engine_message kept[ENGINE_LOG_KEPT]; /* number n is at n % ENGINE_LOG_KEPT */
    uint64_t next;                               /* number of the next message, from 0 */
    uint64_t written;                            /* of the next for the file */
};

/* `changed` is called, on the thread that has something to say, after each message. */
void engine_log_begin(struct engine_log *log, int fd, void (*changed)(void *context),
                      void *context);
void engine_log_end(struct engine_log *log);
/* Write to the file what has come since the last time. */
void engine_log_write(struct engine_log *log);

/* One line; control characters in it become '?'. Any thread, any lock. `run` 0: about none. */
void engine_log(struct engine_log *log, enum message_level level, long run, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The number that the next message will have. */
uint64_t engine_log_next(struct engine_log *log);
/* The first kept message from number *next on, which moves past it; NULL: none yet. */
json_t *engine_log_take(struct engine_log *log, uint64_t *next);
/* An array of the `limit` newest messages, oldest first. */
json_t *engine_log_newest(struct engine_log *log, uint64_t limit);
