/* SPDX-License-Identifier: MIT */
#include "engine/board/event_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"

bool event_log_open(struct event_log *log, const char *path, struct error *err)
{
    *log = (struct event_log)EVENT_LOG_INIT;
    log->fd = open_output(path);
    return log->fd >= 0 || error_errno(err, "%s: cannot open the log", path);
}

static void give_up(struct event_log *log)
{
    int reason = errno;
    /* Half a line is worse than none. */
    bool whole = ftruncate(log->fd, log->length) == 0;
    errno = reason;
    error_errno(&log->failure, whole ? "the log ends early" : "the log ends early, within a line");
    event_log_close(log);
}

void event_log_put(struct event_log *log, const json_t *event)
{
    if (log->fd < 0)
        return;
    char *line = json_to_text(event, JSON_LINE);
    if (!line) {
        errno = ENOMEM;
        give_up(log);
        return;
    }
    size_t length = strlen(line);
    line[length] = '\n'; /* in place of the NUL, so that a line is one write */
    if (write_fully(log->fd, line, length + 1))
        log->length += (off_t)length + 1;
    else
        give_up(log);
    free(line);
}

void event_log_close(struct event_log *log)
{
    if (log->fd >= 0 && close(log->fd) != 0 && log->failure.kind == ERROR_NONE)
        error_errno(&log->failure, "the log may be incomplete");
    log->fd = -1;
}
