/* SPDX-License-Identifier: MIT */
#include "engine/log/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/json.h"

#define LOG_LIMIT ((off_t)1 << 20)
/* All kept messages, in JSON, fit into a line of the protocol. */
#define TEXT_LIMIT 800

static const char no_memory[] = "out of memory (message)";
static const char *const level_names[] = {"info", "warning", "error"};

void engine_log_begin(struct engine_log *log, int fd, void (*changed)(void *context), void *context)
{
    *log = (struct engine_log){.fd = fd, .changed = changed, .context = context};
    pthread_mutex_init(&log->lock, NULL);
}

void engine_log_end(struct engine_log *log)
{
    engine_log_write(log);
    for (int i = 0; i < ENGINE_LOG_KEPT; i++)
        free(log->kept[i].text);
    pthread_mutex_destroy(&log->lock);
}

/* With the lock held: the number of the first message that is still there. */
static uint64_t oldest_kept(const struct engine_log *log)
{
    return log->next > ENGINE_LOG_KEPT ? log->next - ENGINE_LOG_KEPT : 0;
}

/* One write: a line is never mixed with those of another process. */
static void write_line(int fd, bool own, double date, enum message_level level, const char *text)
{
    struct stat info;
    struct tm now;
    char line[TEXT_LIMIT + 100];
    time_t seconds = (time_t)date;
    size_t length = 0;
    if (localtime_r(&seconds, &now))
        length = strftime(line, sizeof line, "%Y-%m-%d %H:%M:%S ", &now);
    int more = snprintf(line + length, sizeof line - length, "%s%s%s\n",
                        level == MESSAGE_INFO ? "" : level_names[level],
                        level == MESSAGE_INFO ? "" : ": ", text);
    if (more < 0 || (size_t)more >= sizeof line - length)
        return;
    if (own && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > LOG_LIMIT &&
        ftruncate(fd, 0) != 0)
        return;
    if (write(fd, line, length + (size_t)more) < 0)
        return;
}

void engine_log_write(struct engine_log *log)
{
    for (;;) {
        char text[TEXT_LIMIT + 1];
        pthread_mutex_lock(&log->lock);
        uint64_t from = log->written < oldest_kept(log) ? oldest_kept(log) : log->written;
        bool more = log->fd >= 0 && from < log->next;
        const struct engine_message *message = &log->kept[from % ENGINE_LOG_KEPT];
        double date = message->time;
        enum message_level level = message->level;
        if (more)
            snprintf(text, sizeof text, "%s", message->text ? message->text : no_memory);
        log->written = more ? from + 1 : log->next;
        pthread_mutex_unlock(&log->lock);
        if (!more)
            return;
        write_line(log->fd, log->own, date, level, text);
    }
}

static void keep(struct engine_log *log, enum message_level level, long run, const char *text)
{
    struct engine_message message = {clock_date(), level, run, strdup(text)};
    pthread_mutex_lock(&log->lock);
    struct engine_message *place = &log->kept[log->next++ % ENGINE_LOG_KEPT];
    char *oldest = place->text;
    *place = message;
    pthread_mutex_unlock(&log->lock);
    free(oldest);
}

void engine_log(struct engine_log *log, enum message_level level, long run, const char *format, ...)
{
    char text[1200], shown[TEXT_LIMIT + 1];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length < 0)
        return;
    escape_copy(shown, sizeof shown, text);
    keep(log, level, run, shown);
    log->changed(log->context);
}

uint64_t engine_log_next(struct engine_log *log)
{
    pthread_mutex_lock(&log->lock);
    uint64_t next = log->next;
    pthread_mutex_unlock(&log->lock);
    return next;
}

static json_t *message_json(const struct engine_log *log, uint64_t number)
{
    const struct engine_message *message = &log->kept[number % ENGINE_LOG_KEPT];
    return json_pack("{s:I, s:f, s:s, s:o, s:o}", "number", (json_int_t)number, "time",
                     message->time, "level", level_names[message->level], "run",
                     message->run ? json_integer(message->run) : json_null(), "text",
                     json_any_text(message->text ? message->text : no_memory));
}

json_t *engine_log_take(struct engine_log *log, uint64_t *next)
{
    json_t *message = NULL;
    pthread_mutex_lock(&log->lock);
    if (*next < oldest_kept(log))
        *next = oldest_kept(log);
    if (*next < log->next)
        message = message_json(log, (*next)++);
    pthread_mutex_unlock(&log->lock);
    return message;
}

json_t *engine_log_newest(struct engine_log *log, uint64_t limit)
{
    json_t *list = json_array();
    pthread_mutex_lock(&log->lock);
    uint64_t from = oldest_kept(log);
    if (log->next - from > limit)
        from = log->next - limit;
    while (from < log->next)
        json_array_append_new(list, message_json(log, from++));
    pthread_mutex_unlock(&log->lock);
    return list;
}
