/* SPDX-License-Identifier: MIT */
#include "spec/values.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "spec/fields.h"

/* The comma after the first value of `text`, or its end. */
static const char *end_of_value(const struct spec_field *field, const char *text)
{
    bool words = field->kind == FIELD_SCHEDULE || field->kind == FIELD_SPLIT;
    const char *comma = strchr(text, ',');
    while (comma && words && isdigit((unsigned char)comma[1]))
        comma = strchr(comma + 1, ',');
    return comma ? comma : text + strlen(text);
}

bool spec_has_lists(const char *key)
{
    const struct spec_field *field = spec_find_field(key);
    if (!field)
        return false;
    switch (field->kind) {
    case FIELD_LONG:
    case FIELD_DOUBLE:
    case FIELD_BOOL:
    case FIELD_CHOICE:
    case FIELD_SPLIT:
    case FIELD_SCHEDULE:
        return true;
    default:
        return false;
    }
}

bool spec_is_list(const char *key, const char *text)
{
    return spec_has_lists(key) && *end_of_value(spec_find_field(key), text) != '\0';
}

bool spec_next_value(const char *key, const char **at, char *value, size_t size)
{
    const char *text = *at, *end = end_of_value(spec_find_field(key), text);
    size_t length = (size_t)(end - text);
    snprintf(value, size, "%.*s", (int)length, text);
    *at = *end ? end + 1 : NULL;
    return length > 0 && length < size;
}
