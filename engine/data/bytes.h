/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * The bytes of a regular file, unpacked on the way if it begins as gzip does (RFC 1952; several
 * members in a row are one stream). The content decides, not the name. Errors name the file.
 */
struct bytes;

bool bytes_open(const char *path, struct bytes **out, struct error *err);

/* Up to `want` bytes into `to`; *got < want only at the end of the data. */
bool bytes_read(struct bytes *bytes, void *to, size_t want, size_t *got, struct error *err);

/*
 * No more bytes than this can come out of the whole file: its size, times the most that deflate
 * can compress. Checked before memory is taken for what a header promises.
 */
uint64_t bytes_bound(const struct bytes *bytes);

void bytes_close(struct bytes *bytes);
