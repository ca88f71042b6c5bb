/* SPDX-License-Identifier: MIT */
#include "base/choices.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"

#define FILE_LIMIT ((size_t)4 << 20)
/* Two seconds in all: whoever holds the lock needs a few milliseconds, or is stopped. */
#define LOCK_TRIES    400
#define LOCK_PAUSE_NS (5 * 1000 * 1000)

char *choices_path(const char *name, struct error *err)
{
    return path_below(paths_cache_home(err), name, err);
}

/* The length of a line's key (three fields); 0: it has none. */
static size_t key_length(const char *line)
{
    const char *at = line;
    for (int field = 0; field < 3; field++) {
        at = strchr(at, '\t');
        if (!at)
            return 0;
        at++;
    }
    return (size_t)(at - 1 - line);
}

/* The length of the key of a line that is understood; 0: it is not. */
static size_t understand(const struct choices *file, const char *line)
{
    size_t key = line[0] == '#' ? 0 : key_length(line);
    return key > 0 && file->understood(line + key + 1) ? key : 0;
}

static bool has_key(const char *line, size_t length, const char *key)
{
    return length == strlen(key) && memcmp(line, key, length) == 0;
}

/* The file's text, "" when there is none to be read; NULL: out of memory. */
static char *read_choices(const char *path)
{
    char *data;
    size_t length;
    struct error ignored = ERROR_INIT;
    if (!file_read(path, FILE_LIMIT, &data, &length, &ignored))
        return strdup("");
    return data;
}

char *choices_find(const struct choices *file, const char *key)
{
    const char *found = NULL;
    char *data = read_choices(file->path), *at = data;
    for (char *line; (line = strsep(&at, "\n"));) {
        /* What no newline ends was cut off. */
        size_t length = at ? understand(file, line) : 0;
        if (length > 0 && has_key(line, length, key))
            found = line + length + 1;
    }
    char *choice = found ? strdup(found) : NULL;
    free(data);
    return choice;
}

/* Lines worth keeping of `data`, without those of `key`: the newest that leave room for one. */
static void append_others(struct text *text, const struct choices *file, char *data,
                          const char *key)
{
    static const size_t keep = CHOICES_LIMIT - 1;
    const char *kept[CHOICES_LIMIT]; /* a ring of the last lines */
    size_t count = 0;
    char *at = data;
    for (char *line; (line = strsep(&at, "\n"));) {
        size_t length = at ? understand(file, line) : 0;
        if (length > 0 && !has_key(line, length, key))
            kept[count++ % keep] = line;
    }
    for (size_t i = count > keep ? count - keep : 0; i < count; i++)
        text_printf(text, "%s\n", kept[i % keep]);
}

static bool write_choices(const struct choices *file, const char *key, const char *choice,
                          struct error *err)
{
    struct text text = TEXT_INIT;
    char *data = read_choices(file->path);
    if (!data)
        return error_memory(err, file->path);
    text_puts(&text, file->heading);
    append_others(&text, file, data, key);
    if (choice)
        text_printf(&text, "%s\t%s\n", key, choice);
    free(data);
    return file_write(file->path, &text, err);
}

/* -1 when it cannot be had: whoever holds it may be stopped, and waits must end. */
static int lock_choices(const char *path)
{
    char *name = text_format("%s.lock", path);
    int fd = name ? open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    free(name);
    for (int i = 0; fd >= 0 && i < LOCK_TRIES; i++) {
        static const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return fd;
        if (errno != EWOULDBLOCK && errno != EINTR)
            break;
        nanosleep(&pause, NULL);
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

bool choices_put(const struct choices *file, const char *key, const char *choice, struct error *err)
{
    char *folder = strdup(file->path);
    if (!folder)
        return error_memory(err, file->path);
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    bool ok = !slash || slash == folder || make_directories(folder, 0700, err);
    free(folder);
    if (!ok)
        return false;
    int lock = lock_choices(file->path);
    ok = write_choices(file, key, choice, err);
    if (lock >= 0)
        close(lock);
    return ok;
}
