/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const json_t *member(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return value && !json_is_null(value) ? value : NULL;
}

bool json_get_bool(const json_t *object, const char *key, bool *out, struct error *err)
{
    const json_t *value = member(object, key);
    if (!value)
        return true;
    if (!json_is_boolean(value))
        return error_set(err, ERROR_USAGE, "'%s' must be true or false", key);
    *out = json_is_true(value);
    return true;
}

bool json_get_long(const json_t *object, const char *key, long low, long high, long *out,
                   struct error *err)
{
    const json_t *value = member(object, key);
    if (!value)
        return true;
    if (!json_is_integer(value) || json_integer_value(value) < low ||
        json_integer_value(value) > high)
        return error_set(err, ERROR_USAGE, "'%s' must be a whole number from %ld to %ld", key, low,
                         high);
    *out = (long)json_integer_value(value);
    return true;
}

bool json_get_double(const json_t *object, const char *key, double low, double high, double *out,
                     struct error *err)
{
    const json_t *value = member(object, key);
    if (!value)
        return true;
    double number = json_number_value(value);
    if (!json_is_number(value) || !isfinite(number) || number < low || number > high)
        return error_set(err, ERROR_USAGE, "'%s' must be a number from %g to %g", key, low, high);
    *out = number;
    return true;
}

bool json_get_string(const json_t *object, const char *key, const char **out, struct error *err)
{
    const json_t *value = member(object, key);
    if (!value)
        return true;
    if (!json_is_string(value))
        return error_set(err, ERROR_USAGE, "'%s' must be a string", key);
    *out = json_string_value(value);
    return true;
}

json_t *json_any_text(const char *text)
{
    json_t *string = json_string(text);
    char *copy = string ? NULL : strdup(text);
    if (!copy)
        return string;
    for (char *at = copy; *at; at++)
        if ((unsigned char)*at >= 0x80)
            *at = '?';
    string = json_string(copy);
    free(copy);
    return string;
}

static int append(const char *bytes, size_t length, void *context)
{
    struct text *text = context;
    text_append(text, bytes, length);
    return text->failed ? -1 : 0;
}

char *json_to_text(const json_t *json, size_t flags)
{
    struct text text = TEXT_INIT;
    /* A failure is remembered by the text, whatever becomes of the callback's answer. */
    if (json_dump_callback(json, append, &text, flags) == 0 && !text.failed)
        return text.data;
    text_free(&text);
    return NULL;
}

json_t *json_finite(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}
