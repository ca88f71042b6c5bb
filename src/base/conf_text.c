/* SPDX-License-Identifier: MIT */
#include "base/conf_text.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 64
#define MAX_LINES 65535 /* libconfig counts them in 16 bits */

/* The end of the comment or string that starts at `at`, or `at` when none does; NULL: no end. */
static const char *skip_quoted(const char *at, const char *end)
{
    const char *stop;
    if (*at == '#' || (*at == '/' && at[1] == '/')) {
        stop = memchr(at, '\n', (size_t)(end - at));
        return stop ? stop : end;
    }
    if (*at == '/' && at[1] == '*') {
        stop = memmem(at + 2, (size_t)(end - at - 2), "*/", 2);
        return stop ? stop + 2 : NULL;
    }
    if (*at != '"')
        return at;
    for (stop = at + 1; stop < end && *stop != '"'; stop++)
        if (*stop == '\\')
            stop++;
    return stop < end ? stop + 1 : NULL;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || strchr("_-*.+", c);
}

/* A token that is a whole number which libconfig would wrap round? */
static bool is_huge_number(const char *token, const char *end)
{
    if (*token == '-' || *token == '+')
        token++;
    bool hex = token[0] == '0' && (token[1] == 'x' || token[1] == 'X');
    if (!isdigit((unsigned char)*token))
        return false;
    char *stop;
    errno = 0;
    unsigned long long value = strtoull(token, &stop, hex ? 16 : 10);
    if (stop < end && *stop != 'L')
        return false; /* a fraction, an exponent, or no number: libconfig's to judge */
    return errno == ERANGE || value > (stop < end ? (unsigned long long)LLONG_MAX : INT_MAX);
}

static bool refuse(const char *file, int line, const char *what, struct error *err)
{
    return error_set(err, ERROR_USAGE, "%s:%d: %s", file, line, what);
}

/* One token that is neither comment nor string; *next is after it. */
static bool check_token(const char *file, int line, const char *at, const char *end,
                        const char **next, int *depth, struct error *err)
{
    while (*next < end && is_word(**next))
        (*next)++;
    if (is_huge_number(at, *next))
        return error_set(err, ERROR_USAGE,
                         "%s:%d: number too large: %.*s (beyond 2147483647 write an L after it)",
                         file, line, *next - at < 40 ? (int)(*next - at) : 40, at);
    if (*next > at)
        return true;
    (*next)++;
    *depth += *at == '(' || *at == '{' || *at == '[';
    *depth -= *at == ')' || *at == '}' || *at == ']';
    if (*depth > MAX_DEPTH)
        return refuse(file, line, "brackets nested deeper than 64", err);
    return *at != '@' ||
           refuse(file, line, "@include is not allowed: put all settings into this file", err);
}

bool conf_text_check(const char *file, const char *text, size_t length, struct error *err)
{
    const char *end = text + length, *next;
    int line = 1, depth = 0;
    if (memchr(text, '\0', length))
        return error_set(err, ERROR_USAGE, "%s: holds a zero byte: it is not a text file", file);
    for (const char *at = text; at < end;) {
        next = skip_quoted(at, end);
        if (!next)
            return refuse(file, line,
                          *at == '"' ? "this string has no end" : "this comment has no end", err);
        if (next == at && !check_token(file, line, at, end, &next, &depth, err))
            return false;
        for (; at < next; at++)
            line += *at == '\n';
        if (line > MAX_LINES)
            return refuse(file, line, "more than 65535 lines", err);
    }
    return true;
}
