/* SPDX-License-Identifier: MIT */
#include "engine/hosts/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"

enum { CHUNK = 65536 };

bool lines_fill(struct lines *lines, int fd)
{
    if (lines->taken > 0) {
        lines->length -= lines->taken;
        memmove(lines->data, lines->data + lines->taken, lines->length);
        lines->taken = 0;
    }
    if (lines->capacity - lines->length < CHUNK) {
        const size_t capacity = 2 * lines->capacity + CHUNK;
        char *data = realloc(lines->data, capacity);
        if (!data)
            return false;
        lines->data = data;
        lines->capacity = capacity;
    }
    const ssize_t count = read(fd, lines->data + lines->length, CHUNK);
    if (count < 0)
        return errno == EAGAIN || errno == EINTR;
    lines->length += (size_t)count;
    return count > 0;
}

char *lines_next(struct lines *lines)
{
    char *begin = lines->data + lines->taken;
    char *end =
        lines->length > lines->taken ? memchr(begin, '\n', lines->length - lines->taken) : NULL;
    if (!end)
        return NULL;
    *end = '\0';
    lines->taken = (size_t)(end + 1 - lines->data);
    return begin;
}

void lines_free(struct lines *lines)
{
    free(lines->data);
    *lines = (struct lines){0};
}

bool lines_put(int fd, json_t *object)
{
    char *text = object ? json_to_text(object, JSON_LINE) : NULL;
    json_decref(object);
    if (!text)
        return false;
    const size_t length = strlen(text);
    text[length] = '\n';
    const bool ok = write_fully(fd, text, length + 1);
    free(text);
    return ok;
}
