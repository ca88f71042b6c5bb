/* SPDX-License-Identifier: MIT */
#include "engine/server/record/labels.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define TAG_BYTES 60
#define TAGS_MOST 20

bool record_check_note(const char *note, const char *key, struct error *err)
{
    if (strlen(note) > NOTE_BYTES)
        return error_set(err, ERROR_USAGE, "'%s' must be no longer than %d bytes", key, NOTE_BYTES);
    return !text_has_controls(note) ||
           error_set(err, ERROR_USAGE, "'%s' must be one line without control characters", key);
}

void record_set_note(struct record *record, const char *note)
{
    snprintf(record->note, sizeof record->note, "%s", note);
}

bool record_check_tag(const char *tag, struct error *err)
{
    size_t length = strlen(tag);
    if (length == 0 || length > TAG_BYTES || strpbrk(tag, " ,") || text_has_controls(tag))
        return error_set(err, ERROR_USAGE,
                         "'%.60s': a tag is one word of 1 to %d bytes without commas", tag,
                         TAG_BYTES);
    return true;
}

/* Place of `tag`, or where it belongs; *found says which. */
static size_t find_tag(const json_t *tags, const char *tag, bool *found)
{
    size_t at = 0;
    int order = 1;
    while (at < json_array_size(tags) &&
           (order = strcmp(json_string_value(json_array_get(tags, at)), tag)) < 0)
        at++;
    *found = at < json_array_size(tags) && order == 0;
    return at;
}

static bool add_tag(json_t *tags, const char *tag)
{
    bool found;
    const size_t at = find_tag(tags, tag, &found);
    return found || json_array_insert_new(tags, at, json_string(tag)) == 0;
}

bool record_change_tags(struct record *record, const json_t *add, const json_t *remove,
                        struct error *err)
{
    size_t index;
    const json_t *value;
    bool found;
    json_t *tags = json_copy(record->tags);
    bool ok = tags != NULL;
    json_array_foreach(remove, index, value)
    {
        const size_t at = find_tag(tags, json_string_value(value), &found);
        if (found)
            json_array_remove(tags, at);
    }
    json_array_foreach(add, index, value)
    {
        if (json_is_string(value))
            ok = ok && add_tag(tags, json_string_value(value));
    }
    if (!ok)
        error_memory(err, "tags");
    else if (json_array_size(tags) > TAGS_MOST)
        ok = error_set(err, ERROR_USAGE, "run %ld would have %zu tags: at most %d", record->number,
                       json_array_size(tags), TAGS_MOST);
    if (ok) {
        json_t *old = record->tags;
        record->tags = tags;
        tags = old;
    }
    json_decref(tags);
    return ok;
}
