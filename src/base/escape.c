/* SPDX-License-Identifier: MIT */
#include "base/escape.h"

#include <stdio.h>
#include <string.h>

/*
 * Sorted. Of the Unicode Character Database 15.0: General_Category Cc, Zl and Zp; Cf but for
 * Prepended_Concatenation_Mark, whose characters are visible (U+0600); Default_Ignorable_Code_Point
 * with its unassigned ones; Bidi_Control; Noncharacter_Code_Point in U+FDD0 to U+FDEF. Private use
 * and other unassigned characters stay: fonts and newer terminals show them.
 * tests/programs/escapes.py compares with the database of Python.
 */
static const struct {
    char32_t first, last;
} hidden[] = {
    {0x0, 0x1f},        {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},
    {0x61c, 0x61c},     {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},
    {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},
    {0xfdd0, 0xfdef},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
    {0xfff0, 0xfffb},   {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
    {0xe0000, 0xe0fff},
};

static bool is_scalar(char32_t c)
{
    return c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
}

bool escape_hidden(char32_t character)
{
    size_t low = 0, high = sizeof hidden / sizeof *hidden;
    if (character >= ' ' && character < 0x7f)
        return false;
    if (!is_scalar(character) || (character & 0xfffe) == 0xfffe)
        return true;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (character > hidden[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sizeof hidden / sizeof *hidden && character >= hidden[low].first;
}

size_t utf8_decode(const char *at, size_t length, char32_t *character)
{
    static const char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *byte = (const unsigned char *)at;
    if (length == 0)
        return 0;
    size_t count = byte[0] < 0x80                      ? 1
                   : byte[0] >= 0xc2 && byte[0] < 0xe0 ? 2
                   : byte[0] >= 0xe0 && byte[0] < 0xf0 ? 3
                   : byte[0] >= 0xf0 && byte[0] < 0xf5 ? 4
                                                       : 0;
    if (count == 0 || count > length)
        return 0;
    char32_t c = count == 1 ? byte[0] : byte[0] & (0xffU >> (count + 1));
    for (size_t i = 1; i < count; i++) {
        if ((byte[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (byte[i] & 0x3f);
    }
    if (c < least[count] || !is_scalar(c))
        return 0;
    *character = c;
    return count;
}

void utf8_trim(char *text)
{
    char32_t character;
    size_t length = strlen(text), last = length;
    while (last > 0 && length - last < UTF8_BYTES - 1 && (text[last - 1] & 0xc0) == 0x80)
        last--;
    if (last > 0 && utf8_decode(text + last - 1, length - last + 1, &character) == 0)
        text[last - 1] = '\0';
}

/* Bytes of `text` that are shown as they are and are ASCII. */
static size_t plain_length(const char *text)
{
    size_t length = 0;
    while (text[length] >= ' ' && text[length] < 0x7f)
        length++;
    return length;
}

size_t escape_next(const char **text, char shown[ESCAPE_BYTES])
{
    char32_t character;
    size_t bytes = utf8_decode(*text, UTF8_BYTES, &character);
    unsigned code = bytes > 0 ? character : (unsigned char)**text;
    int length = (int)bytes;
    if (bytes > 0 && !escape_hidden(character)) {
        memcpy(shown, *text, bytes);
        shown[bytes] = '\0';
    } else if (bytes < 2) {
        length = snprintf(shown, ESCAPE_BYTES, "\\x%02x", code);
    } else if (code < 0x10000) {
        length = snprintf(shown, ESCAPE_BYTES, "\\u%04x", code);
    } else {
        length = snprintf(shown, ESCAPE_BYTES, "\\U%08x", code);
    }
    *text += bytes > 0 ? bytes : 1;
    return (size_t)length;
}

bool escape_needed(const char *text)
{
    char32_t character;
    for (size_t bytes; *(text += plain_length(text)); text += bytes) {
        bytes = utf8_decode(text, UTF8_BYTES, &character);
        if (bytes == 0 || escape_hidden(character))
            return true;
    }
    return false;
}

void escape_append(struct text *out, const char *string)
{
    char shown[ESCAPE_BYTES];
    for (size_t plain;; text_append(out, shown, escape_next(&string, shown))) {
        plain = plain_length(string);
        text_append(out, string, plain);
        string += plain;
        if (!*string)
            return;
    }
}

size_t escape_copy(char *to, size_t size, const char *from)
{
    char shown[ESCAPE_BYTES];
    size_t used = 0;
    while (*from) {
        size_t length = escape_next(&from, shown);
        if (length >= size - used)
            break;
        memcpy(to + used, shown, length);
        used += length;
    }
    to[used] = '\0';
    return used;
}
