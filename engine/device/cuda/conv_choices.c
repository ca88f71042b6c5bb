/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/conv_choices.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "engine/device/cuda/conv_plan.h"

#define FILE_LIMIT ((size_t)4 << 20)
/* Two seconds in all: whoever holds the lock needs a few milliseconds, or is stopped. */
#define LOCK_TRIES    400
#define LOCK_PAUSE_NS (5 * 1000 * 1000)

static const char first_line[] = "# ways in which cuDNN was found to be fastest; dpartui finds "
                                 "them again when this is deleted\n";

char *conv_choices_path(struct error *err)
{
    char *folder = paths_cache_home(err);
    if (!folder)
        return NULL;
    char *path = path_join(folder, "cudnn-choices");
    free(folder);
    if (!path)
        error_memory(err, "the path of cuDNN's choices");
    return path;
}

char *conv_choices_key(size_t version, const char *device, const char *request)
{
    char *key = NULL;
    char *name = strdup(device);
    if (name) {
        text_replace_controls(name);
        key = text_format("%zu\t%s\t%s", version, name, request);
    }
    free(name);
    return key;
}

/* The next field of a line: ended, *at behind it; NULL when there is none. */
static char *next_field(char **at)
{
    return *at ? strsep(at, "\t") : NULL;
}

static bool parse_knobs(char *text, struct dnn_choice *way)
{
    way->knob_count = 0;
    if (strcmp(text, "-") == 0)
        return true;
    for (char *knob; (knob = strsep(&text, ","));) {
        char *value = strchr(knob, '=');
        long type, number;
        if (!value || way->knob_count == DNN_KNOBS)
            return false;
        *value++ = '\0';
        if (!parse_long(knob, 0, INT32_MAX, &type) ||
            !parse_long(value, INT32_MIN, INT32_MAX, &number))
            return false;
        way->knobs[way->knob_count++] = (struct dnn_knob){type, number};
    }
    return true;
}

/* `values` are the fields behind the key and are taken apart. */
static bool parse_values(char *values, struct conv_choice *choice)
{
    long engine, workspace;
    char *at = values;
    char *engine_text = next_field(&at), *knobs = next_field(&at);
    char *workspace_text = next_field(&at), *seconds = next_field(&at);
    memset(choice, 0, sizeof *choice);
    if (!seconds || at || !parse_long(engine_text, 0, INT32_MAX, &engine) ||
        !parse_long(workspace_text, 0, LONG_MAX, &workspace) ||
        !parse_double(seconds, 0, 1e6, &choice->seconds) || !parse_knobs(knobs, &choice->way))
        return false;
    choice->way.engine = engine;
    choice->workspace = (size_t)workspace;
    return true;
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

/* Understand a line; *key is its key's length. The line itself stays as it is. */
static bool parse_line(const char *line, size_t *key, struct conv_choice *choice)
{
    *key = line[0] == '#' ? 0 : key_length(line);
    if (!*key)
        return false;
    char *values = strdup(line + *key + 1);
    bool ok = values && parse_values(values, choice);
    free(values);
    return ok;
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

bool conv_choices_find(const char *path, const char *key, struct conv_choice *choice)
{
    bool found = false;
    char *data = read_choices(path), *at = data;
    for (char *line; (line = strsep(&at, "\n"));) {
        size_t length;
        struct conv_choice candidate;
        /* What no newline ends was cut off. */
        if (at && parse_line(line, &length, &candidate) && length == strlen(key) &&
            memcmp(line, key, length) == 0) {
            *choice = candidate;
            found = true;
        }
    }
    free(data);
    return found;
}

static void append_choice(struct text *text, const char *key, const struct conv_choice *choice)
{
    text_printf(text, "%s\t%" PRId64 "\t", key, choice->way.engine);
    for (int i = 0; i < choice->way.knob_count; i++)
        text_printf(text, "%s%" PRId64 "=%" PRId64, i ? "," : "", choice->way.knobs[i].type,
                    choice->way.knobs[i].value);
    text_printf(text, "%s\t%zu\t%.9f\n", choice->way.knob_count ? "" : "-", choice->workspace,
                isfinite(choice->seconds) ? choice->seconds : 0.0);
}

/* Lines worth keeping of `data`, without those of `key`: the newest that leave room for one. */
static void append_others(struct text *text, char *data, const char *key)
{
    static const size_t keep = CONV_CHOICES_LIMIT - 1;
    const char *kept[CONV_CHOICES_LIMIT]; /* a ring of the last lines */
    size_t count = 0;
    char *at = data;
    for (char *line; (line = strsep(&at, "\n"));) {
        size_t length;
        struct conv_choice choice;
        if (at && parse_line(line, &length, &choice) &&
            !(length == strlen(key) && memcmp(line, key, length) == 0))
            kept[count++ % keep] = line;
    }
    for (size_t i = count > keep ? count - keep : 0; i < count; i++)
        text_printf(text, "%s\n", kept[i % keep]);
}

static bool write_choices(const char *path, const char *key, const struct conv_choice *choice,
                          struct error *err)
{
    struct text text = TEXT_INIT;
    struct file_writer writer = FILE_WRITER_INIT;
    char *data = read_choices(path);
    if (!data)
        return error_memory(err, path);
    text_puts(&text, first_line);
    append_others(&text, data, key);
    if (choice)
        append_choice(&text, key, choice);
    free(data);
    bool ok = text.failed ? error_memory(err, path)
                          : file_writer_open(&writer, path, err) &&
                                file_writer_put(&writer, text.data, text.length, err) &&
                                file_writer_commit(&writer, err);
    file_writer_abort(&writer);
    text_free(&text);
    return ok;
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

bool conv_choices_put(const char *path, const char *key, const struct conv_choice *choice,
                      struct error *err)
{
    char *folder = strdup(path);
    if (!folder)
        return error_memory(err, path);
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    bool ok = !slash || slash == folder || make_directories(folder, 0700, err);
    free(folder);
    if (!ok)
        return false;
    int lock = lock_choices(path);
    ok = write_choices(path, key, choice, err);
    if (lock >= 0)
        close(lock);
    return ok;
}
