/* SPDX-License-Identifier: MIT */
#include "ui/app/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

/* Days of training; a longer one was left running by mistake. */
#define SIZE_LIMIT ((size_t)256 << 20)

struct recording {
    int fd; /* -1: writing has failed */
    char *path;
    double begin;
    size_t size;
};

bool recording_open(struct recording **out, const char *path, struct error *err)
{
    struct recording *recording = calloc(1, sizeof *recording);
    if (!recording || !(recording->path = strdup(path))) {
        free(recording);
        return error_memory(err, "the recording");
    }
    recording->begin = clock_seconds();
    recording->fd = open_output(path);
    if (recording->fd < 0) {
        error_errno(err, "%s: the session cannot be recorded", path);
        free(recording->path);
        free(recording);
        return false;
    }
    *out = recording;
    return true;
}

void recording_close(struct recording *recording)
{
    if (!recording)
        return;
    if (recording->fd >= 0)
        close(recording->fd);
    free(recording->path);
    free(recording);
}

static bool give_up(struct recording *recording, struct error *err)
{
    if (recording->size > SIZE_LIMIT)
        error_set(err, ERROR_FAILED, "%s: the recording ends here, it has grown to %zu MiB",
                  recording->path, SIZE_LIMIT >> 20);
    else
        error_errno(err, "%s: the recording ends here", recording->path);
    close(recording->fd);
    recording->fd = -1;
    return false;
}

bool recording_put(struct recording *recording, const json_t *message, struct error *err)
{
    struct text line = TEXT_INIT;
    if (!recording || recording->fd < 0)
        return true;
    char *body = json_to_text(message, JSON_LINE);
    if (body && strcmp(body, "{}") != 0)
        text_printf(&line, "{\"t\":%.3f,%s\n", clock_seconds() - recording->begin, body + 1);
    free(body);
    if (!text_cstr(&line)) {
        errno = ENOMEM;
        return give_up(recording, err);
    }
    recording->size += line.length;
    bool ok = recording->size <= SIZE_LIMIT && write_fully(recording->fd, line.data, line.length);
    text_free(&line);
    return ok || give_up(recording, err);
}

bool recording_put_connection(struct recording *recording, const char *advice, struct error *err)
{
    json_t *message = !advice ? json_pack("{s:s}", "connection", "up")
                              : json_pack("{s:s, s:s}", "connection", "lost", "advice", advice);
    bool ok = !message || recording_put(recording, message, err);
    json_decref(message);
    return ok;
}
