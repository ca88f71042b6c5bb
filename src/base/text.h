/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * A growing string. A failed allocation is remembered (`failed`), later appends do nothing, and the
 * user checks once at the end. `data` is NUL-terminated when length > 0 or after text_cstr().
 */
struct text {
    char *data;
    size_t length, capacity;
    bool failed;
};

#define TEXT_INIT                                                                                  \
    {                                                                                              \
        0                                                                                          \
    }

void text_append(struct text *text, const char *bytes, size_t length);
void text_puts(struct text *text, const char *string);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Drop the first `count` bytes. */
void text_consume(struct text *text, size_t count);
/* The string so far, "" when empty; NULL when an append failed. Owned by `text`. */
const char *text_cstr(struct text *text);
/* The string, for the caller to free; NULL when an append failed. `text` has nothing any more. */
char *text_take(struct text *text);
void text_free(struct text *text);

/* Does a text end in `end`, and have something before it? */
bool text_ends_in(const char *text, const char *end);

/* Does the text hold control characters, of one byte or U+0080 to U+009F? */
bool text_has_controls(const char *text);

/* printf into a new string the caller frees; NULL when memory ran out. */
char *text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The end of a noun after a count: "%ld run%s", n, plural(n). */
const char *plural(double count);
/* The same with the verb: "%ld run%s lost", n, plural_are(n). */
const char *plural_are(double count);

/*
 * Whole-string number parsing, in the C locale whatever the process's is: leading or trailing
 * characters, overflow, NaN and infinity are refused. Bounds are inclusive.
 */
bool parse_long(const char *string, long low, long high, long *out);
bool parse_double(const char *string, double low, double high, double *out);
