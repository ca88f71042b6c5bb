/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/dnn/conv/store.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/choices.h"
#include "base/file.h"
#include "base/text.h"

#define FILE_LIMIT ((size_t)16 << 20)

static const char magic[] = "dpartui-cudnn-plan 1 ";
static const char suffix[] = ".plan";

char *conv_store_path(struct error *err)
{
    return choices_path("cudnn-plans", err);
}

/* FNV-1a (Fowler, Noll, Vo): against damage, not against enemies; the folder is the user's own. */
static uint64_t hash(uint64_t state, const char *data, size_t length)
{
    for (size_t i = 0; i < length; i++)
        state = (state ^ (unsigned char)data[i]) * 0x100000001b3u;
    return state;
}

#define HASH_BEGIN 0xcbf29ce484222325u

static char *path_of(const char *folder, const char *key)
{
    return text_format("%s/%016" PRIx64 "%s", folder, hash(HASH_BEGIN, key, strlen(key)), suffix);
}

/* Of the lines after the first. */
static uint64_t checksum(const char *key, const char *text, size_t length)
{
    const uint64_t of_key = hash(HASH_BEGIN, key, strlen(key));
    return hash(hash(of_key, "\n", 1), text, length);
}

/* Where cuDNN's text begins in a file's data; NULL: damaged, or another key's. */
static char *find_text(char *data, size_t size, const char *key)
{
    char first[sizeof magic + 32];
    const size_t key_length = strlen(key), head = sizeof magic - 1 + 16 + 1;
    if (size < head + key_length + 1 || memcmp(data + head, key, key_length) != 0 ||
        data[head + key_length] != '\n')
        return NULL;
    char *text = data + head + key_length + 1;
    const size_t length = size - (size_t)(text - data);
    snprintf(first, sizeof first, "%s%016" PRIx64 "\n", magic, checksum(key, text, length));
    return length > 0 && memcmp(data, first, head) == 0 ? text : NULL;
}

char *conv_store_read(const char *folder, const char *key, size_t *length, struct error *err)
{
    char *data = NULL, *found = NULL, *path = path_of(folder, key);
    size_t size = 0;
    if (!path) {
        error_memory(err, folder);
        return NULL;
    }
    if (access(path, F_OK) == 0 && file_read(path, FILE_LIMIT, &data, &size, err)) {
        char *text = find_text(data, size, key);
        if (text) {
            *length = size - (size_t)(text - data);
            memmove(data, text, *length + 1); /* the NUL after the data, too */
            found = data;
        } else {
            error_set(err, ERROR_FAILED,
                      "%s is damaged or not a plan of this program: it is recompiled", path);
            free(data);
        }
    }
    free(path);
    return found;
}

static bool is_plan(const char *name)
{
    const size_t length = strlen(name);
    return length == 16 + sizeof suffix - 1 && strcmp(name + 16, suffix) == 0;
}

/* The plan that was changed the longest ago; returns how many there are. */
static int find_oldest(DIR *folder, int fd, char oldest[64])
{
    struct timespec least = {0};
    int count = 0;
    rewinddir(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        struct stat status;
        if (!is_plan(entry->d_name) || fstatat(fd, entry->d_name, &status, 0) != 0)
            continue;
        const struct timespec when = status.st_mtim;
        if (count++ == 0 || when.tv_sec < least.tv_sec ||
            (when.tv_sec == least.tv_sec && when.tv_nsec < least.tv_nsec)) {
            least = when;
            snprintf(oldest, 64, "%s", entry->d_name);
        }
    }
    return count;
}

/* What cannot be removed stays: this is tidiness only. */
static void remove_oldest(const char *path)
{
    char oldest[64];
    DIR *folder = opendir(path);
    if (!folder)
        return;
    while (find_oldest(folder, dirfd(folder), oldest) > CONV_STORE_FILES)
        if (unlinkat(dirfd(folder), oldest, 0) != 0)
            break;
    closedir(folder);
}

bool conv_store_write(const char *folder, const char *key, const char *text, size_t length,
                      struct error *err)
{
    struct file_writer writer = FILE_WRITER_INIT;
    char *path = path_of(folder, key);
    char *head = text_format("%s%016" PRIx64 "\n%s\n", magic, checksum(key, text, length), key);
    bool ok = path && head
                  ? make_directories(folder, 0700, err) && file_writer_open(&writer, path, err) &&
                        file_writer_put(&writer, head, strlen(head), err) &&
                        file_writer_put(&writer, text, length, err) &&
                        file_writer_commit(&writer, err)
                  : error_memory(err, folder);
    file_writer_abort(&writer);
    free(head);
    free(path);
    if (ok)
        remove_oldest(folder);
    return ok;
}
