/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"

static bool set_text(struct error *err, char *text, bool cut)
{
    if (cut)
        utf8_trim(text);
    escape_copy(err->text, sizeof err->text, text);
    return false;
}

bool error_set(struct error *err, enum error_kind kind, const char *format, ...)
{
    char text[sizeof err->text];
    va_list args;
    err->kind = kind;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return set_text(err, text, length >= (int)sizeof text);
}

bool error_errno(struct error *err, const char *format, ...)
{
    int number = errno;
    char reason[128], text[sizeof err->text];
    va_list args;
    err->kind = ERROR_FAILED;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t used = strlen(text);
    int length = snprintf(text + used, sizeof text - used, ": %s",
                          strerror_r(number, reason, sizeof reason));
    return set_text(err, text, length >= (int)(sizeof text - used));
}

bool error_memory(struct error *err, const char *what)
{
    return error_set(err, ERROR_FAILED, "out of memory (%s)", what);
}

void *error_if_null(void *made, struct error *err, const char *what)
{
    if (!made)
        error_memory(err, what);
    return made;
}

bool error_prefix(struct error *err, const char *format, ...)
{
    char text[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t used = strlen(text);
    int length = snprintf(text + used, sizeof text - used, ": %s", err->text);
    if (err->kind == ERROR_NONE)
        err->kind = ERROR_FAILED;
    return set_text(err, text, length >= (int)(sizeof text - used));
}
