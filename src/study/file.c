/* SPDX-License-Identifier: MIT */
#include "study/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/paths.h"
#include "base/text.h"
#include "study/json.h"

#define STUDY_BYTES ((size_t)64 << 20)

static char *folder(struct error *err)
{
    return path_below(paths_data_home(err), "comparisons", err);
}

/* FOLDER/ID and an ending. */
static char *file_of(const char *id, const char *ending, struct error *err)
{
    char *directory = folder(err);
    if (!directory)
        return NULL;
    char *path = text_format("%s/%s%s", directory, id, ending);
    free(directory);
    return error_if_null(path, err, "comparison");
}

static bool is_id(const char *id)
{
    long number;
    return id[0] != '0' && id[0] != '+' && parse_long(id, 1, INT_MAX, &number);
}

/* Those of the workbench, "w8" after their first run, are nothing but notes of runs. */
static bool no_such(const char *id, struct error *err)
{
    if (id[0] == 'w' && is_id(id + 1))
        return error_set(err, ERROR_USAGE,
                         "comparison %s is one of the workbench, whose compare view shows it; "
                         "'dpartui runs %s:' lists its runs",
                         id, id);
    return error_set(err, ERROR_USAGE,
                     "there is no comparison '%.40s': 'dpartui compare --list' lists them", id);
}

bool study_ids(json_t **ids, struct error *err)
{
    long number;
    char *path = folder(err);
    if (!path)
        return false;
    DIR *directory = opendir(path);
    bool ok = directory || errno == ENOENT || error_errno(err, "%s: cannot be read", path);
    free(path);
    *ids = ok ? json_array() : NULL;
    ok = ok && (*ids || error_memory(err, "comparisons"));
    for (struct dirent *entry; ok && directory && (entry = readdir(directory));) {
        char name[32];
        size_t length = strcspn(entry->d_name, ".");
        if (length >= sizeof name || strcmp(entry->d_name + length, ".json") != 0)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)length, entry->d_name);
        if (!is_id(name) || !parse_long(name, 1, INT_MAX, &number))
            continue;
        size_t at = 0; /* few enough to be sorted as they come */
        while (at < json_array_size(*ids) &&
               json_integer_value(json_array_get(*ids, at)) < (json_int_t)number)
            at++;
        ok = json_array_insert_new(*ids, at, json_integer(number)) == 0 ||
             error_memory(err, "comparisons");
    }
    if (directory)
        closedir(directory);
    if (!ok)
        json_decref(*ids);
    return ok;
}

/* *taken: another process has it. */
static bool lock_file(const char *id, struct study_lock *lock, bool *taken, struct error *err)
{
    struct stat info;
    *taken = false;
    *lock = (struct study_lock)STUDY_LOCK_INIT;
    lock->path = file_of(id, ".lock", err);
    if (!lock->path)
        return false;
    lock->fd = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool ok = lock->fd >= 0 || error_errno(err, "%s: cannot be made", lock->path);
    if (ok && flock(lock->fd, LOCK_EX | LOCK_NB) != 0) {
        *taken = errno == EWOULDBLOCK;
        ok = *taken || error_errno(err, "%s: cannot be locked", lock->path);
    }
    /* Its last holder removed the file between our two calls. */
    if (ok && !*taken && fstat(lock->fd, &info) == 0 && info.st_nlink == 0)
        *taken = true;
    if (ok && !*taken)
        return true;
    if (lock->fd >= 0)
        close(lock->fd);
    free(lock->path);
    *lock = (struct study_lock)STUDY_LOCK_INIT;
    return ok;
}

void study_release(struct study_lock *lock)
{
    if (lock->fd < 0)
        return;
    unlink(lock->path);
    close(lock->fd);
    free(lock->path);
    *lock = (struct study_lock)STUDY_LOCK_INIT;
}

bool study_claim(struct study *study, struct study_lock *lock, struct error *err)
{
    json_t *ids = NULL;
    char *path = folder(err);
    bool ok = path && make_directories(path, 0700, err), taken = true;
    free(path);
    if (!ok || !study_ids(&ids, err))
        return false;
    json_int_t last = json_integer_value(json_array_get(ids, json_array_size(ids) - 1));
    json_decref(ids);
    for (int next = (int)last + 1; ok && taken; next++) {
        struct stat info;
        snprintf(study->id, sizeof study->id, "%d", next);
        ok = lock_file(study->id, lock, &taken, err);
        char *file = ok && !taken ? file_of(study->id, ".json", err) : NULL;
        if (ok && !taken && !file) {
            study_release(lock);
            ok = false;
        } else if (file && stat(file, &info) == 0) {
            study_release(lock);
            taken = true;
        }
        free(file);
    }
    return ok;
}

bool study_take(const char *id, struct study_lock *lock, struct error *err)
{
    struct stat info;
    bool taken;
    *lock = (struct study_lock)STUDY_LOCK_INIT;
    if (!is_id(id))
        return no_such(id, err);
    char *file = file_of(id, ".json", err);
    if (!file)
        return false;
    bool there = stat(file, &info) == 0;
    free(file);
    if (!there)
        return no_such(id, err);
    if (!lock_file(id, lock, &taken, err))
        return false;
    return !taken || error_set(err, ERROR_FAILED,
                               "another dpartui works on comparison %s: end that one first", id);
}

bool study_save(const struct study *study, struct error *err)
{
    struct text text = TEXT_INIT;
    json_t *object = study_to_json(study);
    char *json = object ? json_to_text(object, JSON_INDENT(1) | JSON_DIGITS) : NULL;
    char *path = json ? file_of(study->id, ".json", err) : NULL;
    json_decref(object);
    text_printf(&text, "%s\n", json ? json : "");
    free(json);
    bool ok = path                      ? file_write(path, &text, err)
              : err->kind != ERROR_NONE ? false
                                        : error_memory(err, "comparison");
    text_free(&text);
    free(path);
    return ok;
}

bool study_load(const char *id, struct study *study, struct error *err)
{
    char *data = NULL;
    size_t length = 0;
    struct stat info;
    json_error_t where;
    if (!is_id(id))
        return no_such(id, err);
    char *path = file_of(id, ".json", err);
    if (!path)
        return false;
    bool ok = stat(path, &info) == 0 || no_such(id, err);
    ok = ok && file_read(path, STUDY_BYTES, &data, &length, err);
    json_t *object = ok ? json_read(data, length, 0, &where) : NULL;
    if (ok && !object)
        ok = error_set(err, ERROR_FAILED, "%s: no JSON in line %d: %s", path, where.line,
                       where.text);
    if (ok && !study_from_json(study, object, err))
        ok = error_prefix(err, "%s", path);
    if (ok && strcmp(study->id, id) != 0) {
        ok = error_set(err, ERROR_FAILED, "%s: it is that of comparison %s", path, study->id);
        study_free(study);
    }
    json_decref(object);
    free(data);
    free(path);
    return ok;
}
