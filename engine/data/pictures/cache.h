/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/data/pictures/watch.h"

/*
 * What was made of a folder of pictures, in files of ~/.cache/dpartui/pictures: read by mapping
 * them, so that a start takes the time of looking at the folder. An entry has a name (what it is
 * of: folder and settings) and a digest (what the folder held then): with another digest it is
 * out of date, and replaced. It appears whole or not at all, and of processes that want the same
 * entry one makes it while the others wait.
 *
 * An entry takes at most half of what is free on the disk; entries that nobody has used for 90
 * days are removed when another is made, and the longest unused ones where it needs their room.
 */
struct picture_cache {
    char *path;      /* of the entry; NULL: there is no cache, memory is all there is */
    char *temporary; /* while it is made */
    int fd;
    bool opened; /* the temporary file is, as fd */
    uint64_t name, digest;
    void *memory; /* of the whole entry, its head included */
    size_t size;
};

#define PICTURE_CACHE_HEAD 4096 /* bytes before those of the user */

/*
 * Find the entry: *found says whether it is there, mapped read-only. Otherwise nobody else makes it
 * until picture_cache_close, and picture_cache_make is next. Where there can be no cache,
 * because HOME is not set or nothing can be written there, it is as if the entry were not there,
 * and *why says so.
 */
bool picture_cache_find(uint64_t name, uint64_t digest, const struct data_watch *watch,
                        struct picture_cache *out, bool *found, struct error *why,
                        struct error *err);

/* Zeroed memory for an entry of `size` bytes after the head: in its file, or, where the disk has no
 * room (*why), without one. */
bool picture_cache_make(struct picture_cache *cache, size_t size, struct error *why,
                        struct error *err);

/* All is written: `size` bytes, perhaps fewer than were asked for. The entry is on disk now, if
 * *why does not say otherwise, and the memory stays. */
void picture_cache_keep(struct picture_cache *cache, size_t size, struct error *why);

/* What the user has written, or will. */
static inline void *picture_cache_bytes(const struct picture_cache *cache)
{
    return (char *)cache->memory + PICTURE_CACHE_HEAD;
}

/* Release all but the entry on disk; a zeroed cache has nothing to release. */
void picture_cache_close(struct picture_cache *cache);
