/* SPDX-License-Identifier: MIT */
#include "engine/net/error.h"

#include <stdarg.h>
#include <stdio.h>

bool model_error(const char *file, int line, struct error *err, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return error_set(err, ERROR_USAGE, "%s:%d: %s", file, line, text);
}
