/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * ZIP archives (PKWARE's APPNOTE.TXT, with its 64-bit sizes), as far as NumPy writes them: files
 * stored or deflated. Files come from outside, so every number in them is checked before it is
 * believed. Errors name the archive.
 */
struct zip_entry {
    char *name;
    int method; /* 0: stored, 8: deflated */
    uint32_t crc;
    uint64_t packed, size; /* bytes in the archive, and unpacked */
    uint64_t header;       /* where its local header is */
};

struct zip {
    int fd;
    char *path;
    uint64_t size;
    struct zip_entry *entries;
    size_t count;
};

/* The archive's list of files; zip_close releases it, whatever the result. */
bool zip_open(const char *path, struct zip *out, struct error *err);
void zip_close(struct zip *zip);

/* The file of that name, or NULL. */
const struct zip_entry *zip_find(const struct zip *zip, const char *name);

/* A file that is read from its beginning. */
struct zip_reader;
bool zip_reader_open(const struct zip *zip, const struct zip_entry *entry, struct zip_reader **out,
                     struct error *err);
/* The next `size` bytes, exactly; with the last ones the checksum is compared. */
bool zip_reader_get(struct zip_reader *reader, void *to, size_t size, struct error *err);
void zip_reader_close(struct zip_reader *reader);
