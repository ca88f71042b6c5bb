/* SPDX-License-Identifier: MIT */
#include "engine/data/pictures/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "engine/data/pictures/room.h"

#define MAGIC   "dpartui pictures"
#define VERSION 2
#define WAIT_NS 50000000L

/* The first bytes of an entry, as this machine has numbers. */
struct head {
    char magic[sizeof MAGIC];
    uint32_t order, version;
    uint64_t name, digest, size;
};

static struct head head_of(const struct picture_cache *cache, size_t size)
{
    struct head head;
    memset(&head, 0, sizeof head); /* what lies between members is written, too */
    memcpy(head.magic, MAGIC, sizeof MAGIC);
    head.order = 0x01020304;
    head.version = VERSION;
    head.name = cache->name;
    head.digest = cache->digest;
    head.size = size;
    return head;
}

/* Map the entry if it is there and what is wanted. */
static bool map_entry(struct picture_cache *cache)
{
    struct stat info;
    int fd = open(cache->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return false;
    void *memory = MAP_FAILED;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > PICTURE_CACHE_HEAD)
        memory = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, fd, 0);
    bool right = memory != MAP_FAILED;
    if (right) {
        struct head head = head_of(cache, (size_t)info.st_size - PICTURE_CACHE_HEAD);
        right = memcmp(memory, &head, sizeof head) == 0;
        if (!right)
            munmap(memory, (size_t)info.st_size);
    }
    if (right) {
        cache->memory = memory;
        cache->size = (size_t)info.st_size;
        futimens(fd, NULL); /* it is in use; if that cannot be noted, it is removed the sooner */
    }
    close(fd);
    return right;
}

static void drop_temporary(struct picture_cache *cache, bool remove)
{
    if (!cache->opened)
        return;
    /* While it is locked: whoever waits for it looks whether it is still there. */
    if (remove)
        unlink(cache->temporary);
    close(cache->fd);
    cache->opened = false;
}

/* From now on memory is all there is. */
static void give_up(struct picture_cache *cache)
{
    drop_temporary(cache, true);
    free(cache->path);
    cache->path = NULL;
}

/* *locked: nobody else makes the entry now. False: *why, there can be no entry. */
static bool lock_temporary(struct picture_cache *cache, bool *locked, struct error *why)
{
    struct stat ours, there;
    *locked = false;
    cache->fd = open(cache->temporary, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (cache->fd < 0)
        return error_errno(why, "%s: cannot write there", cache->temporary);
    cache->opened = true;
    if (flock(cache->fd, LOCK_EX | LOCK_NB) == 0)
        /* The one that had the lock may have renamed or removed what we opened. */
        *locked = fstat(cache->fd, &ours) == 0 && stat(cache->temporary, &there) == 0 &&
                  ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
    else if (errno != EWOULDBLOCK && errno != EINTR)
        return error_errno(why, "%s: cannot be locked", cache->temporary);
    if (!*locked)
        drop_temporary(cache, false);
    return true;
}

/* Names of the entry and its temporary file. False: *why, there is no place for them. */
static bool name_entry(struct picture_cache *cache, struct error *why)
{
    char *folder = path_below(paths_cache_home(why), "pictures", why);
    bool ok = folder && make_directories(folder, 0700, why);
    if (ok) {
        cache->path = text_format("%s/%016llx.pictures", folder, (unsigned long long)cache->name);
        cache->temporary = text_format("%s/%016llx.new", folder, (unsigned long long)cache->name);
        ok = (cache->path && cache->temporary) || error_memory(why, "pictures");
    }
    free(folder);
    return ok;
}

bool picture_cache_find(uint64_t name, uint64_t digest, const struct data_watch *watch,
                        struct picture_cache *out, bool *found, struct error *why,
                        struct error *err)
{
    const struct timespec pause = {.tv_nsec = WAIT_NS};
    bool locked = false;
    *out = (struct picture_cache){.name = name, .digest = digest};
    *why = (struct error)ERROR_INIT;
    *found = false;
    if (!name_entry(out, why)) {
        give_up(out);
        return true;
    }
    while (!(*found = map_entry(out)) && !locked) {
        if (!lock_temporary(out, &locked, why)) {
            give_up(out);
            return true;
        }
        if (locked)
            continue; /* and look again: it may have been made before we had the lock */
        if (!data_watch_tick(watch, 0, 0))
            return error_set(err, ERROR_CANCELLED,
                             "stopped while another process was reading the same pictures");
        nanosleep(&pause, NULL);
    }
    if (*found)
        drop_temporary(out, true);
    return true;
}

static bool map_file(struct picture_cache *cache, size_t size)
{
    errno = ftruncate(cache->fd, 0) == 0 ? posix_fallocate(cache->fd, 0, (off_t)size) : errno;
    if (errno)
        return false;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, cache->fd, 0);
    if (memory == MAP_FAILED)
        return false;
    cache->memory = memory;
    cache->size = size;
    return true;
}

bool picture_cache_make(struct picture_cache *cache, size_t size, struct error *why,
                        struct error *err)
{
    size += PICTURE_CACHE_HEAD;
    if (cache->path && !room_make(cache->path, size, why))
        give_up(cache);
    if (cache->path && !map_file(cache, size)) {
        error_errno(why, "%s: cannot write it", cache->temporary);
        give_up(cache);
    }
    if (cache->memory)
        return true;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return error_set(err, ERROR_FAILED, "out of memory for %zu bytes of pictures", size);
    cache->memory = memory;
    cache->size = size;
    return true;
}

/* The file's last bytes, then its name, then the folder. */
static bool commit(struct picture_cache *cache, size_t size, struct error *why)
{
    struct head head = head_of(cache, size - PICTURE_CACHE_HEAD);
    memcpy(cache->memory, &head, sizeof head);
    if (msync(cache->memory, size, MS_SYNC) != 0 || ftruncate(cache->fd, (off_t)size) != 0 ||
        fsync(cache->fd) != 0 || rename(cache->temporary, cache->path) != 0)
        return error_errno(why, "%s: cannot write it", cache->temporary);
    char *folder = strndup(cache->path, (size_t)(strrchr(cache->path, '/') - cache->path));
    bool ok = folder ? sync_directory(folder, why) : error_memory(why, "pictures");
    free(folder);
    return ok;
}

void picture_cache_keep(struct picture_cache *cache, size_t size, struct error *why)
{
    if (!cache->opened)
        return;
    bool kept = commit(cache, PICTURE_CACHE_HEAD + size, why);
    drop_temporary(cache, !kept);
    mprotect(cache->memory, cache->size, PROT_READ); /* so that nobody changes what others read */
}

void picture_cache_close(struct picture_cache *cache)
{
    drop_temporary(cache, true);
    if (cache->memory)
        munmap(cache->memory, cache->size);
    free(cache->path);
    free(cache->temporary);
    *cache = (struct picture_cache){0};
}
