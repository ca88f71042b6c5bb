/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

bool error_set(struct error *err, enum error_kind kind, const char *format, ...)
{
    va_list args;
    err->kind = kind;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    text_replace_controls(err->text);
    return false;
}

bool error_errno(struct error *err, const char *format, ...)
{
    int number = errno;
    char reason[128];
    va_list args;
    err->kind = ERROR_FAILED;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used, ": %s",
             strerror_r(number, reason, sizeof reason));
    text_replace_controls(err->text);
    return false;
}

bool error_memory(struct error *err, const char *what)
{
    return error_set(err, ERROR_FAILED, "out of memory (%s)", what);
}

bool error_prefix(struct error *err, const char *format, ...)
{
    char text[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, ": %s", err->text);
    memcpy(err->text, text, sizeof text);
    text_replace_controls(err->text);
    if (err->kind == ERROR_NONE)
        err->kind = ERROR_FAILED;
    return false;
}
