/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <uchar.h>

#include "base/text.h"

/*
 * Text from outside (notes, tags, names, paths, messages of the system), made visible for people.
 *
 * What would move a cursor, reverse the direction of text or be invisible is shown as an escape of
 * C: \x1b (a control below U+0020, DEL, or a byte that is not UTF-8), \u202e (a character up to
 * U+FFFF), \U000e0041 (one above). All others stay, combining marks and wide characters too. The
 * joiners U+200C and U+200D are escaped although Persian and some emoji use them: they tell apart
 * what looks the same. A backslash stays, so escaping twice gives what escaping once does, and a
 * text that holds the six characters \u202e looks like one that holds U+202E; JSON tells them
 * apart.
 */

/* Bytes of the longest escape, and a NUL. */
#define ESCAPE_BYTES 11

/* Is the character escaped? Surrogates and what is no character are. */
bool escape_hidden(char32_t character);
/* Does the text hold anything that is escaped? */
bool escape_needed(const char *text);

/*
 * The next character of *text, which is not at its end, as it is shown, with a NUL: itself, or its
 * escape, which is ASCII. Moves *text past it; returns the bytes of `shown`.
 */
size_t escape_next(const char **text, char shown[ESCAPE_BYTES]);

/* Append `string` as it is shown. */
void escape_append(struct text *out, const char *string);
/*
 * `from` as it is shown, into `to` of `size` bytes (at least one); cut before the first character
 * that does not fit. They do not overlap. Returns the bytes written, without the NUL.
 */
size_t escape_copy(char *to, size_t size, const char *from);

/*
 * The character that the `length` bytes at `at` begin with, as *character; returns its bytes, 0:
 * they do not begin with valid UTF-8 (overlong, a surrogate, above U+10FFFF, cut short). A NUL ends
 * a text earlier than `length`.
 */
size_t utf8_decode(const char *at, size_t length, char32_t *character);
#define UTF8_BYTES 4
/* Of a text that was cut somewhere: drop the last character if it is not whole. */
void utf8_trim(char *text);
