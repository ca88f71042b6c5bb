/* SPDX-License-Identifier: MIT */
#include "engine/server/record/warnings.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"

/* A copy that is no longer than a warning may be, cut between two characters. */
static char *cut(const char *text)
{
    size_t length = strlen(text);
    if (length > WARNING_BYTES) {
        length = WARNING_BYTES;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
            length--;
    }
    return strndup(text, length);
}

static struct warning *find(const struct warnings *warnings, const char *text, const char *about)
{
    for (size_t i = 0; i < warnings->count; i++) {
        struct warning *warning = &warnings->list[i];
        if (about ? warning->about && strcmp(warning->about, about) == 0
                  : !warning->about && strcmp(warning->text, text) == 0)
            return warning;
    }
    return NULL;
}

/* Takes over `text`. False: it does not fit, or memory ran out. */
static bool add(struct warnings *warnings, char *text, const char *about, double now)
{
    if (warnings->count == WARNINGS_MOST || warnings->bytes + strlen(text) > WARNINGS_BYTES)
        return false;
    struct warning *list = realloc(warnings->list, (warnings->count + 1) * sizeof *list);
    if (!list)
        return false;
    warnings->list = list;
    char *copy = about ? strdup(about) : NULL;
    if (about && !copy)
        return false;
    list[warnings->count++] =
        (struct warning){.text = text, .about = copy, .count = 1, .first = now, .last = now};
    warnings->bytes += strlen(text);
    return true;
}

/* Its newest text, where there is room for it. Takes over `text`. */
static bool replace(struct warnings *warnings, struct warning *warning, char *text)
{
    size_t bytes = warnings->bytes - strlen(warning->text) + strlen(text);
    if (bytes > WARNINGS_BYTES)
        return false;
    free(warning->text);
    warning->text = text;
    warnings->bytes = bytes;
    return true;
}

static void take(struct warnings *warnings, const char *long_text, const char *about, double now)
{
    char *text = cut(long_text);
    struct warning *known = text ? find(warnings, text, about) : NULL;
    bool taken = false;
    if (known && about) {
        taken = replace(warnings, known, text);
    } else if (known) {
        known->count++;
        known->last = now;
    } else if (!text || !(taken = add(warnings, text, about, now))) {
        warnings->left_out++;
    }
    if (!taken)
        free(text);
}

void warnings_take(struct warnings *warnings, const json_t *event, double now)
{
    const char *text = json_string_value(json_object_get(event, "text"));
    const char *about = json_string_value(json_object_get(event, "about"));
    if (text)
        take(warnings, text, about, now);
}

static json_t *warning_json(const struct warning *warning)
{
    char first[CLOCK_DATE_TEXT], last[CLOCK_DATE_TEXT];
    if (warning->count == 1)
        return json_any_text(warning->text);
    char *text =
        text_format("%s (%ld times from %s to %s)", warning->text, warning->count,
                    clock_date_text(first, warning->first), clock_date_text(last, warning->last));
    json_t *json = text ? json_any_text(text) : NULL;
    free(text);
    return json;
}

json_t *warnings_json(const struct warnings *warnings)
{
    json_t *list = json_array();
    bool ok = list;
    for (size_t i = 0; ok && i < warnings->count; i++)
        ok = json_array_append_new(list, warning_json(&warnings->list[i])) == 0;
    if (ok && warnings->left_out > 0)
        ok = json_array_append_new(list, json_sprintf("%ld more warning%s in the engine's log",
                                                      warnings->left_out,
                                                      plural_are(warnings->left_out))) == 0;
    return json_kept_if(ok, list);
}

json_t *warnings_counts_json(const struct warnings *warnings)
{
    json_t *list = json_array();
    bool ok = list;
    for (size_t i = 0; ok && i < warnings->count; i++) {
        const struct warning *warning = &warnings->list[i];
        json_t *counts =
            json_pack("{s:I, s:I, s:o, s:o}", "bytes", (json_int_t)strlen(warning->text), "count",
                      (json_int_t)warning->count, "first", json_finite(warning->first), "last",
                      json_finite(warning->last));
        ok = counts && (!warning->about ||
                        json_object_set_new(counts, "about", json_any_text(warning->about)) == 0);
        ok = json_array_append_new(list, counts) == 0 && ok;
    }
    if (ok && warnings->left_out > 0)
        ok = json_array_append_new(
                 list, json_pack("{s:I}", "left_out", (json_int_t)warnings->left_out)) == 0;
    return json_kept_if(ok, list);
}

static double number_or(const json_t *object, const char *key, double otherwise)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

static bool restore(struct warnings *warnings, const char *text, const json_t *counts, double then)
{
    json_int_t bytes = json_integer_value(json_object_get(counts, "bytes"));
    json_int_t count = json_integer_value(json_object_get(counts, "count"));
    bool known = bytes > 0 && (size_t)bytes <= strlen(text) && count > 0;
    char *own = known ? strndup(text, (size_t)bytes) : cut(text);
    const char *about = json_string_value(json_object_get(counts, "about"));
    if (!own || !add(warnings, own, about, then)) {
        free(own);
        return false;
    }
    if (known) {
        struct warning *warning = &warnings->list[warnings->count - 1];
        warning->count = (long)count;
        warning->first = number_or(counts, "first", then);
        warning->last = number_or(counts, "last", then);
    }
    return true;
}

void warnings_restore(struct warnings *warnings, const json_t *texts, const json_t *counts,
                      double then)
{
    for (size_t i = 0; i < json_array_size(texts); i++) {
        const char *text = json_string_value(json_array_get(texts, i));
        const json_t *own = json_array_get(counts, i);
        json_int_t left_out = json_integer_value(json_object_get(own, "left_out"));
        if (left_out > 0)
            warnings->left_out += (long)left_out;
        else if (text && !restore(warnings, text, own, then))
            warnings->left_out++;
    }
}

void warnings_free(struct warnings *warnings)
{
    for (size_t i = 0; i < warnings->count; i++) {
        free(warnings->list[i].text);
        free(warnings->list[i].about);
    }
    free(warnings->list);
    *warnings = (struct warnings){.list = NULL};
}
