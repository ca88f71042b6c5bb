/* SPDX-License-Identifier: MIT */
#include "engine/data/classes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"
#include "engine/data/dataset.h"

#define CLASS_NAME_MOST 64 /* bytes of one name */

const char *const *classes_copy(const char *const *names, int count, struct error *err)
{
    size_t table = (size_t)count * sizeof *names, bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += strlen(names[i]) + 1;
    const char **copy = malloc(table + bytes);
    if (!copy) {
        error_memory(err, "class names");
        return NULL;
    }
    char *next = (char *)copy + table;
    for (int i = 0; i < count; i++) {
        copy[i] = next;
        next = stpcpy(next, names[i]) + 1;
    }
    return copy;
}

/* Cut `text` into lines; each must be something that can be shown in one line of a table. */
static bool split_lines(const char *path, char *text, size_t length, const char **names, int *count,
                        struct error *err)
{
    *count = 0;
    char *end = text + length;
    for (char *line = text; line < end;) {
        char *newline = memchr(line, '\n', (size_t)(end - line));
        char *next = newline ? newline + 1 : end;
        size_t span = (size_t)((newline ? newline : end) - line);
        if (span && line[span - 1] == '\r')
            span--;
        if (span < 1 || span > CLASS_NAME_MOST)
            return error_set(err, ERROR_FAILED, "%s:%d: a class name has 1 to %d bytes, not %zu",
                             path, *count + 1, CLASS_NAME_MOST, span);
        for (size_t i = 0; i < span; i++)
            if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
                return error_set(err, ERROR_FAILED, "%s:%d: a control character in a class name",
                                 path, *count + 1);
        if (*count == DATA_MAX_CLASSES)
            return error_set(err, ERROR_FAILED, "%s: more than %d classes", path, DATA_MAX_CLASSES);
        line[span] = '\0';
        names[(*count)++] = line;
        line = next;
    }
    if (*count < 2)
        return error_set(err, ERROR_FAILED, "%s: %d class name%s, but two are the least", path,
                         *count, plural(*count));
    return true;
}

bool classes_read(const char *dir, const char *const **names, int *count, struct error *err)
{
    const char *lines[DATA_MAX_CLASSES];
    struct stat info;
    char *text = NULL, *path = path_join(dir, "classes.txt");
    size_t length = 0;
    if (!path)
        return error_memory(err, dir);
    *names = NULL;
    bool ok = true;
    if (lstat(path, &info) == 0) {
        int found = 0;
        ok = file_read(path, DATA_MAX_CLASSES * (CLASS_NAME_MOST + 2), &text, &length, err) &&
             split_lines(path, text, length, lines, &found, err) &&
             (*names = classes_copy(lines, found, err)) != NULL;
        if (ok)
            *count = found;
    }
    free(text);
    free(path);
    return ok;
}
