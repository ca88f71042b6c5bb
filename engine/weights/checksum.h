/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * Checksums of safetensors files: CRC-32 as in zlib, gzip and PNG (ISO 3309), as 8 hexadecimal
 * digits in the file's `__metadata__`, where other programs ignore them:
 *
 *     "crc32:NAME"   of the bytes of tensor NAME
 *     "crc32"        of the header's text with its padding, these 8 digits themselves taken as 0
 *
 * A file has all of them or none.
 */

/* `crc`: of what came before, 0 at first. */
uint32_t checksum_add(uint32_t crc, const void *data, size_t size);

/* Note a tensor's checksum in the metadata of a header that is being written. */
bool checksum_note(json_t *metadata, const char *name, uint32_t crc);
/* Make room for that of the header itself, after all others. */
bool checksum_reserve(json_t *metadata);
/* Fill it in, in the text of `length` bytes that a header has become. */
void checksum_seal(char *text, size_t length);

/* Has the file checksums? */
bool checksum_present(const json_t *metadata);
/* Does a tensor's agree? Else *err names the file at `path` and the tensor. */
bool checksum_check(const json_t *metadata, const char *path, const char *name, uint32_t crc,
                    struct error *err);
/* Does that of the header, whose text this is? */
bool checksum_check_header(const json_t *metadata, const char *path, const char *text,
                           size_t length, struct error *err);
