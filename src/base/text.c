/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool text_reserve(struct text *text, size_t extra)
{
    if (text->failed)
        return false;
    if (extra > (size_t)-1 / 2 - text->length - 1) {
        text->failed = true;
        return false;
    }
    size_t need = text->length + extra + 1;
    if (need <= text->capacity)
        return true;
    size_t capacity = text->capacity ? text->capacity : 64;
    while (capacity < need)
        capacity *= 2;
    char *data = realloc(text->data, capacity);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void text_append(struct text *text, const char *bytes, size_t length)
{
    if (!text_reserve(text, length))
        return;
    if (length)
        memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void text_puts(struct text *text, const char *string)
{
    text_append(text, string, strlen(string));
}

void text_printf(struct text *text, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        text->failed = true;
    else if (text_reserve(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void text_consume(struct text *text, size_t count)
{
    if (!count)
        return;
    memmove(text->data, text->data + count, text->length - count + 1);
    text->length -= count;
}

const char *text_cstr(struct text *text)
{
    if (text->failed)
        return NULL;
    return text->data ? text->data : "";
}

char *text_take(struct text *text)
{
    text_append(text, "", 0); /* of an empty one, too, a string */
    if (!text_cstr(text))
        text_free(text);
    char *string = text->data;
    *text = (struct text)TEXT_INIT;
    return string;
}

void text_free(struct text *text)
{
    free(text->data);
    *text = (struct text)TEXT_INIT;
}

char *text_format(const char *format, ...)
{
    char *string = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&string, format, args);
    va_end(args);
    return length < 0 ? NULL : string;
}

const char *plural(double count)
{
    return count == 1 ? "" : "s";
}

const char *plural_are(double count)
{
    return count == 1 ? " is" : "s are";
}

bool parse_long(const char *string, long low, long high, long *out)
{
    if (isspace((unsigned char)string[0]) || string[0] == '\0')
        return false;
    char *end;
    errno = 0;
    long value = strtol(string, &end, 10);
    if (errno || *end || value < low || value > high)
        return false;
    *out = value;
    return true;
}

bool parse_double(const char *string, double low, double high, double *out)
{
    if (isspace((unsigned char)string[0]) || string[0] == '\0')
        return false;
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", NULL);
    if (!c_locale)
        return false;
    char *end;
    errno = 0;
    double value = strtod_l(string, &end, c_locale);
    bool range = errno == ERANGE && fabs(value) > 1;
    freelocale(c_locale);
    if (range || *end || !isfinite(value) || value < low || value > high)
        return false;
    *out = value;
    return true;
}

bool text_ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

bool text_has_controls(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    for (; *at; at++)
        if (*at < ' ' || *at == 0x7f || (at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0))
            return true;
    return false;
}
