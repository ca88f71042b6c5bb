/* SPDX-License-Identifier: MIT */
#include "engine/net/model_text.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 64    /* of brackets; libconfig's destructor recurses */
#define MAX_LINES 65535 /* libconfig counts them in 16 bits */

bool model_error(const char *file, int line, struct error *err, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return error_set(err, ERROR_USAGE, "%s:%d: %s", file, line, text);
}

/* The end of the comment or string that starts at `at`, or `at` itself when none does. */
static const char *skip_quoted(const char *at, const char *end)
{
    const char *stop = NULL;
    if (*at == '#' || (*at == '/' && at[1] == '/')) {
        stop = memchr(at, '\n', (size_t)(end - at));
    } else if (*at == '/' && at[1] == '*') {
        stop = memmem(at + 2, (size_t)(end - at - 2), "*/", 2);
        stop = stop ? stop + 2 : NULL;
    } else if (*at == '"') {
        for (stop = at + 1; stop < end && *stop != '"'; stop++)
            stop += *stop == '\\' && stop + 1 < end;
        stop = stop < end ? stop + 1 : NULL;
    } else {
        return at;
    }
    return stop ? stop : end;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '*' || c == '.';
}

/* A token that is nothing but a whole number too large for 32 bits? */
static bool is_huge_number(const char *token, size_t length)
{
    char copy[32];
    if (!isdigit((unsigned char)token[0]))
        return false;
    bool hex = length > 1 && tolower((unsigned char)token[1]) == 'x';
    size_t digits = hex ? 2 : 0;
    while (digits < length &&
           (hex ? isxdigit((unsigned char)token[digits]) : isdigit((unsigned char)token[digits])))
        digits++;
    if (digits < length && token[digits] != 'L')
        return false; /* a fraction, an exponent, or a syntax error: libconfig's to judge */
    if (digits >= sizeof copy)
        return true;
    memcpy(copy, token, digits);
    copy[digits] = '\0';
    return strtoull(copy, NULL, hex ? 16 : 10) > INT_MAX;
}

bool model_text_check(const char *file, const char *text, size_t length, struct error *err)
{
    const char *end = text + length;
    int line = 1, depth = 0;
    if (memchr(text, '\0', length))
        return model_error(file, 1, err, "holds a zero byte: not a model file");
    for (const char *at = text; at < end;) {
        const char *next = skip_quoted(at, end);
        if (next == at) {
            while (next < end && is_word(*next))
                next++;
            if (next > at && is_huge_number(at, (size_t)(next - at)))
                return model_error(file, line, err, "number too large: %.*s",
                                   next - at < 40 ? (int)(next - at) : 40, at);
            next += next == at;
            if (*at == '@')
                return model_error(file, line, err, "@include is not allowed: a model is one file");
            depth += (*at == '(' || *at == '{' || *at == '[');
            depth -= (*at == ')' || *at == '}' || *at == ']');
            if (depth > MAX_DEPTH)
                return model_error(file, line, err, "brackets nested deeper than %d", MAX_DEPTH);
        }
        for (; at < next; at++)
            line += *at == '\n';
        if (line > MAX_LINES)
            return model_error(file, line, err, "more than %d lines", MAX_LINES);
    }
    return true;
}

bool model_text_parse(const char *file, const char *text, size_t length, config_t *config,
                      struct error *err)
{
    config_init(config);
    if (!model_text_check(file, text, length, err))
        return false;
    if (!config_read_string(config, text))
        return model_error(file, config_error_line(config), err, "%s",
                           config_error_text(config) ? config_error_text(config) : "syntax error");
    return true;
}

static bool word_in_list(const char *word, const char *list)
{
    size_t length = strlen(word);
    for (const char *at = list; *at;) {
        size_t span = strcspn(at, " ");
        if (span == length && memcmp(at, word, span) == 0)
            return true;
        at += span + (at[span] == ' ');
    }
    return false;
}

bool model_known_keys(const char *file, const config_setting_t *group, const char *allowed,
                      const char *what, struct error *err)
{
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *member = config_setting_get_elem(group, (unsigned)i);
        const char *key = config_setting_name(member);
        if (!word_in_list(key, allowed))
            return model_error(file, (int)config_setting_source_line(member), err,
                               "unknown setting '%.40s': %s may have: %s", key, what, allowed);
    }
    return true;
}

static int line_of(const config_setting_t *setting)
{
    return (int)config_setting_source_line(setting);
}

static bool is_whole(const config_setting_t *setting)
{
    int type = config_setting_type(setting);
    return type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64;
}

static bool take_int(const char *file, const config_setting_t *setting, const char *key, int low,
                     int high, int *out, struct error *err)
{
    long long value = is_whole(setting) ? config_setting_get_int64(setting) : 0;
    if (!is_whole(setting) || value < low || value > high)
        return model_error(file, line_of(setting), err, "'%s' must be a whole number from %d to %d",
                           key, low, high);
    *out = (int)value;
    return true;
}

static bool take_double(const char *file, const config_setting_t *setting, const char *key,
                        double low, double high, double *out, struct error *err)
{
    double value = is_whole(setting) ? (double)config_setting_get_int64(setting)
                                     : config_setting_get_float(setting);
    /* Written so that a NaN is refused as well. */
    if (!config_setting_is_number(setting) || !(value >= low && value <= high))
        return model_error(file, line_of(setting), err, "'%s' must be a number from %g to %g", key,
                           low, high);
    *out = value;
    return true;
}

bool model_get_int(const char *file, const config_setting_t *group, const char *key, bool required,
                   int low, int high, int *out, struct error *err)
{
    const config_setting_t *member = config_setting_get_member(group, key);
    if (!member && required)
        return model_error(file, line_of(group), err, "'%s' is missing", key);
    return !member || take_int(file, member, key, low, high, out, err);
}

bool model_get_double(const char *file, const config_setting_t *group, const char *key, double low,
                      double high, double *out, struct error *err)
{
    const config_setting_t *member = config_setting_get_member(group, key);
    return !member || take_double(file, member, key, low, high, out, err);
}

bool model_get_bool(const char *file, const config_setting_t *group, const char *key, bool *out,
                    struct error *err)
{
    const config_setting_t *member = config_setting_get_member(group, key);
    if (!member)
        return true;
    if (config_setting_type(member) != CONFIG_TYPE_BOOL)
        return model_error(file, line_of(member), err, "'%s' must be true or false", key);
    *out = config_setting_get_bool(member);
    return true;
}

static bool is_name(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length > 64 || name[0] == '.' || name[length - 1] == '.')
        return false;
    for (const char *at = name; *at; at++) {
        if (!isalnum((unsigned char)*at) && !strchr("_-.", *at))
            return false;
        if (at[0] == '.' && at[1] == '.')
            return false;
    }
    return true;
}

bool model_get_name(const char *file, const config_setting_t *group, const char *key,
                    const char **out, struct error *err)
{
    const config_setting_t *member = config_setting_get_member(group, key);
    if (!member)
        return true;
    const char *name = config_setting_get_string(member);
    if (!name || !is_name(name))
        return model_error(file, line_of(member), err,
                           "'%s' must be a string of letters, digits, '_', '-' and single dots "
                           "between them, at most 64 in all",
                           key);
    *out = name;
    return true;
}

/* How many values a member that may be a scalar, an array or a list has; -1: neither. */
static int value_count(const config_setting_t *member)
{
    if (config_setting_is_array(member) || config_setting_is_list(member))
        return config_setting_length(member);
    return config_setting_is_scalar(member) ? 1 : -1;
}

static const config_setting_t *value_at(const config_setting_t *member, int index)
{
    return config_setting_is_scalar(member) ? member
                                            : config_setting_get_elem(member, (unsigned)index);
}

static bool count_values(const char *file, const config_setting_t *member, const char *key,
                         int capacity, int *count, struct error *err)
{
    *count = value_count(member);
    if (*count < 1 || *count > capacity)
        return model_error(file, line_of(member), err,
                           "'%s' must be a number or an array of up to %d", key, capacity);
    return true;
}

bool model_get_ints(const char *file, const config_setting_t *group, const char *key, int low,
                    int high, int capacity, int *values, int *count, struct error *err)
{
    const config_setting_t *member = config_setting_get_member(group, key);
    *count = 0;
    if (!member)
        return true;
    if (!count_values(file, member, key, capacity, count, err))
        return false;
    for (int i = 0; i < *count; i++)
        if (!take_int(file, value_at(member, i), key, low, high, &values[i], err))
            return false;
    return true;
}

bool model_get_doubles(const char *file, const config_setting_t *group, const char *key, double low,
                       double high, int capacity, double *values, int *count, struct error *err)
{
    const config_setting_t *member = config_setting_get_member(group, key);
    *count = 0;
    if (!member)
        return true;
    if (!count_values(file, member, key, capacity, count, err))
        return false;
    for (int i = 0; i < *count; i++)
        if (!take_double(file, value_at(member, i), key, low, high, &values[i], err))
            return false;
    return true;
}
