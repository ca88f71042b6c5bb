/* SPDX-License-Identifier: MIT */
#include "engine/weights/checksum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/text.h"

#define KEY    "crc32"
#define PREFIX KEY ":"
#define ZEROS  "00000000"
#define DIGITS (sizeof ZEROS - 1)
/* As compact JSON has it. No string can contain it: a quote in a string has a backslash before. */
#define MEMBER "\"" KEY "\":\""

uint32_t checksum_add(uint32_t crc, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    const size_t most = 1U << 30; /* zlib counts in unsigned int */
    for (size_t now; size > 0; size -= now, bytes += now) {
        now = size < most ? size : most;
        crc = (uint32_t)crc32(crc, bytes, (unsigned)now);
    }
    return crc;
}

static void print(char text[DIGITS + 1], uint32_t crc)
{
    snprintf(text, DIGITS + 1, "%08x", (unsigned)crc);
}

bool checksum_note(json_t *metadata, const char *name, uint32_t crc)
{
    char digits[DIGITS + 1], *key = text_format(PREFIX "%s", name);
    print(digits, crc);
    bool ok = key && json_object_set_new(metadata, key, json_string(digits)) == 0;
    free(key);
    return ok;
}

bool checksum_reserve(json_t *metadata)
{
    return json_object_set_new(metadata, KEY, json_string(ZEROS)) == 0;
}

/* Where the header's own digits begin in its text; NULL: nowhere. */
static const char *find_digits(const char *text, size_t length)
{
    const char *at = memmem(text, length, MEMBER, sizeof MEMBER - 1);
    at = at ? at + sizeof MEMBER - 1 : NULL;
    return at && length - (size_t)(at - text) >= DIGITS ? at : NULL;
}

static uint32_t of_header(const char *text, size_t length, const char *digits)
{
    size_t before = (size_t)(digits - text);
    uint32_t crc = checksum_add(0, text, before);
    crc = checksum_add(crc, ZEROS, DIGITS);
    return checksum_add(crc, digits + DIGITS, length - before - DIGITS);
}

void checksum_seal(char *text, size_t length)
{
    const char *digits = find_digits(text, length);
    char sum[DIGITS + 1];
    if (!digits)
        return;
    print(sum, of_header(text, length, digits));
    memcpy(text + (digits - text), sum, DIGITS);
}

bool checksum_present(const json_t *metadata)
{
    const char *key;
    json_t *value, *object = (json_t *)(uintptr_t)metadata; /* only read from */
    bool found = false;
    /* Any of them: damage to the name of one must not make the others go unnoticed. */
    json_object_foreach(object, key, value) found =
        found || strcmp(key, KEY) == 0 || strncmp(key, PREFIX, sizeof PREFIX - 1) == 0;
    return found;
}

static bool agrees(const json_t *metadata, const char *key, uint32_t crc)
{
    const char *stored = json_string_value(json_object_get(metadata, key));
    char digits[DIGITS + 1];
    print(digits, crc);
    return stored && strcmp(stored, digits) == 0;
}

bool checksum_check(const json_t *metadata, const char *path, const char *name, uint32_t crc,
                    struct error *err)
{
    char *key = text_format(PREFIX "%s", name);
    if (!key)
        return error_memory(err, path);
    bool ok = agrees(metadata, key, crc) ||
              error_set(err, ERROR_FAILED,
                        "%s: '%.200s' is damaged: its checksum is wrong: restore it from a copy",
                        path, name);
    free(key);
    return ok;
}

bool checksum_check_header(const json_t *metadata, const char *path, const char *text,
                           size_t length, struct error *err)
{
    const char *digits = find_digits(text, length);
    return (digits && agrees(metadata, KEY, of_header(text, length, digits))) ||
           error_set(err, ERROR_FAILED,
                     "%s: its header is damaged: its checksum is wrong: restore it from a copy",
                     path);
}
