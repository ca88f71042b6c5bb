/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/file.h"

/*
 * The container format safetensors (https://github.com/huggingface/safetensors): a 64-bit
 * little-endian length, a JSON header of that many bytes, and the tensors' bytes. Files come from
 * outside, so everything in them is checked before it is believed.
 */

#define SAFETENSORS_HEADER_LIMIT UINT64_C(100000000)
#define SAFETENSORS_MAX_DIMS     8

struct safetensors_entry {
    const char *name, *dtype; /* borrowed from the header */
    int ndim;
    uint64_t dims[SAFETENSORS_MAX_DIMS];
    uint64_t begin, end; /* bytes, from the start of the tensors */
};

struct safetensors {
    int fd;
    char *path;
    json_t *header;
    const json_t *checksums; /* the metadata, if it has checksums (engine/weights/checksum.h) */
    uint64_t data_start, data_size;
    struct safetensors_entry *entries; /* by name */
    size_t count;
};

#define SAFETENSORS_INIT                                                                           \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/*
 * Open a file and check its whole header: its length, JSON and checksum, each entry's type, shape
 * and offsets, and that the tensors cover the rest of the file without holes or overlap. Errors
 * name the file and the entry. safetensors_close must be called whatever the result.
 */
bool safetensors_open(struct safetensors *file, const char *path, struct error *err);
/* The entry of that name, or NULL. */
const struct safetensors_entry *safetensors_find(const struct safetensors *file, const char *name);
/* All bytes of an entry, end - begin of them, as they are in the file (little-endian), if their
 * checksum agrees or the file has none. */
bool safetensors_read(const struct safetensors *file, const struct safetensors_entry *entry,
                      void *data, struct error *err);
/* Read all entries for their checksums alone; of a file without, only whether it can be read. */
bool safetensors_verify(const struct safetensors *file, struct error *err);
void safetensors_close(struct safetensors *file);

/*
 * Add an entry to a header that is being written and has its `__metadata__`; begin and end as
 * above, `crc` by checksum_add of its bytes.
 */
bool safetensors_describe(json_t *header, const char *name, const char *dtype, const int *dims,
                          int ndim, uint64_t begin, uint64_t end, uint32_t crc, struct error *err);
/* Write length and header with its checksum, filled up with spaces so that the tensors begin at a
 * multiple of 8. */
bool safetensors_put_header(struct file_writer *writer, json_t *header, struct error *err);
