/* SPDX-License-Identifier: MIT */
#include "engine/data/pictures/room.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

#define UNUSED_S     (90 * 24 * 3600.0)
#define MOST_ENTRIES 1024 /* looked at */

struct entry {
    char name[64];
    double used;  /* when, last */
    double bytes; /* on disk */
};

/* A temporary file that nobody has locked was left by somebody who died. */
static void remove_left(int folder, const char *name)
{
    int fd = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(folder, name, 0);
    close(fd);
}

/* The entries other than `own`, and the end of what was left and what is too old. */
static int list_entries(DIR *stream, const char *own, struct entry *entries)
{
    struct dirent *found;
    struct stat info;
    int count = 0;
    while ((found = readdir(stream))) {
        const char *name = found->d_name;
        if (strncmp(name, own, strcspn(own, ".")) == 0)
            continue;
        if (text_ends_in(name, ".new"))
            remove_left(dirfd(stream), name);
        if (!text_ends_in(name, ".pictures") || strlen(name) >= sizeof entries->name ||
            fstatat(dirfd(stream), name, &info, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (clock_date() - (double)info.st_mtim.tv_sec > UNUSED_S) {
            unlinkat(dirfd(stream), name, 0);
        } else if (count < MOST_ENTRIES) {
            strcpy(entries[count].name, name);
            entries[count].used = (double)info.st_mtim.tv_sec + 1e-9 * (double)info.st_mtim.tv_nsec;
            entries[count++].bytes = 512.0 * (double)info.st_blocks;
        }
    }
    return count;
}

static int compare_use(const void *a, const void *b)
{
    double x = ((const struct entry *)a)->used, y = ((const struct entry *)b)->used;
    return x < y ? -1 : x > y;
}

static double free_bytes(int folder)
{
    struct statvfs disk;
    if (fstatvfs(folder, &disk) != 0)
        return HUGE_VAL; /* then writing will tell */
    return (double)disk.f_bavail * (double)disk.f_frsize;
}

/* Remove entries, the longest unused first, unless all of them are not enough. */
static bool make_room(int folder, const struct entry *entries, int count, double wanted)
{
    double all = 0, removed = 0;
    const double there = free_bytes(folder);
    for (int i = 0; i < count; i++)
        all += entries[i].bytes;
    if (wanted > there + all)
        return false;
    for (int i = 0; i < count && wanted > there + removed; i++)
        if (unlinkat(folder, entries[i].name, 0) == 0)
            removed += entries[i].bytes;
    return wanted <= there + removed;
}

bool room_make(const char *path, size_t size, struct error *err)
{
    const char *own = strrchr(path, '/') + 1;
    char *folder = strndup(path, (size_t)(own - path));
    DIR *stream = folder ? opendir(folder) : NULL;
    struct entry *entries = stream ? calloc(MOST_ENTRIES, sizeof *entries) : NULL;
    bool ok = entries || error_errno(err, "%s: cannot read the folder", path);
    if (ok) {
        int count = list_entries(stream, own, entries);
        qsort(entries, (size_t)count, sizeof *entries, compare_use);
        ok = make_room(dirfd(stream), entries, count, 2.0 * (double)size) ||
             error_set(err, ERROR_FAILED,
                       "%s: %.1f GB would be more than half of what is free on the disk", folder,
                       1e-9 * (double)size);
    }
    if (stream)
        closedir(stream);
    free(entries);
    free(folder);
    return ok;
}
