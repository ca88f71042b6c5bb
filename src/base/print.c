/* SPDX-License-Identifier: MIT */
#include "base/print.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/escape.h"

/* A conversion of a format, and the arguments from its own on. */
struct conversion {
    char flags[8], size[4], kind;
    int width, precision; /* -1: none given */
    va_list args;
};

size_t print_width(const char *text)
{
    size_t width = 0;
    mbstate_t state = {0};
    for (const char *at = text; *at;) {
        wchar_t character;
        size_t length = mbrtowc(&character, at, MB_CUR_MAX, &state);
        if (length == (size_t)-1 || length == (size_t)-2)
            return strlen(text);
        int columns = wcwidth(character);
        width += columns >= 0 ? (size_t)columns : 1;
        at += length;
    }
    return width;
}

static void put_string(struct text *out, const struct conversion *how, const char *string)
{
    struct text shown = TEXT_INIT;
    escape_append(&shown, string);
    const char *words = text_cstr(&shown);
    int blanks = words && how->width > 0 ? how->width - (int)print_width(words) : 0;
    bool left = strchr(how->flags, '-') != NULL;
    text_printf(out, "%*s", left || blanks < 0 ? 0 : blanks, "");
    text_append(out, shown.data, shown.length);
    text_printf(out, "%*s", left && blanks > 0 ? blanks : 0, "");
    out->failed |= shown.failed;
    text_free(&shown);
}

/* A number of digits or a star at *at; -1: none. */
static int take_number(const char **at, struct conversion *how)
{
    if (**at != '*')
        return **at >= '0' && **at <= '9' ? (int)strtol(*at, (char **)at, 10) : -1;
    (*at)++;
    return va_arg(how->args, int);
}

static const char *take_letters(const char *at, const char *which, char *letters, size_t size)
{
    size_t length = strspn(at, which);
    snprintf(letters, size, "%.*s", (int)length, at);
    return at + length;
}

/* The conversion after a '%'; returns where it ends. */
static const char *parse(const char *at, struct conversion *how)
{
    how->precision = -1;
    at = take_letters(at, "-+ #0", how->flags, sizeof how->flags);
    how->width = take_number(&at, how);
    if (*at == '.') {
        at++;
        how->precision = take_number(&at, how);
        how->precision = how->precision < 0 ? 0 : how->precision;
    }
    at = take_letters(at, "lz", how->size, sizeof how->size);
    how->kind = *at;
    return at + 1;
}

static intmax_t take_signed(struct conversion *how)
{
    if (strcmp(how->size, "ll") == 0)
        return va_arg(how->args, long long);
    if (how->size[0])
        return va_arg(how->args, long); /* as wide as size_t */
    return va_arg(how->args, int);
}

static uintmax_t take_unsigned(struct conversion *how)
{
    if (strcmp(how->size, "ll") == 0)
        return va_arg(how->args, unsigned long long);
    if (how->size[0])
        return va_arg(how->args, unsigned long);
    return va_arg(how->args, unsigned);
}

/* With a separate format, which holds nothing but the conversion. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void put_number(struct text *out, struct conversion *how)
{
    char format[48], width[16] = "", precision[16] = "";
    bool whole = how->kind == 'd' || how->kind == 'u';
    if (how->width >= 0)
        snprintf(width, sizeof width, "%d", how->width);
    if (how->precision >= 0)
        snprintf(precision, sizeof precision, ".%d", how->precision);
    snprintf(format, sizeof format, "%%%s%s%s%s%c", how->flags, width, precision, whole ? "j" : "",
             how->kind);
    if (how->kind == 'd')
        text_printf(out, format, take_signed(how));
    else if (how->kind == 'u')
        text_printf(out, format, take_unsigned(how));
    else
        text_printf(out, format, va_arg(how->args, double));
}
#pragma GCC diagnostic pop

/* In one piece: lines of several processes on one terminal are not mixed. */
static void put(FILE *out, const char *format, struct conversion *how)
{
    struct text text = TEXT_INIT;
    for (size_t length; *format;) {
        length = strcspn(format, "%");
        text_append(&text, format, length);
        format += length;
        if (*format)
            format = parse(format + 1, how);
        else
            break;
        if (how->kind == '%')
            text_puts(&text, "%");
        else if (how->kind == 's')
            put_string(&text, how, va_arg(how->args, const char *));
        else
            put_number(&text, how);
    }
    /* Without memory it is what there was memory for. */
    fwrite(text.data, 1, text.length, out);
    text_free(&text);
}

void print(const char *format, ...)
{
    struct conversion how;
    va_start(how.args, format);
    put(stdout, format, &how);
    va_end(how.args);
}

void print_to(FILE *out, const char *format, ...)
{
    struct conversion how;
    va_start(how.args, format);
    put(out, format, &how);
    va_end(how.args);
}
