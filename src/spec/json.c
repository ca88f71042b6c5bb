/* SPDX-License-Identifier: MIT */
#include "spec/json.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "spec/fields.h"
#include "spec/fill.h"
#include "spec/origin.h"
#include "spec/set.h"
#include "spec/text.h"

static const char origins_member[] = "origins";

/* The option name with '_' for '-', as JSON members are written. */
static void member_name(const struct spec_field *field, char *name, size_t size)
{
    size_t i = 0;
    for (; field->key[i] && i + 1 < size; i++)
        name[i] = field->key[i] == '-' ? '_' : field->key[i];
    name[i] = '\0';
}

static json_t *field_json(const struct spec *spec, const struct spec_field *field)
{
    const void *where = spec_field_at(spec, field);
    switch (field->kind) {
    case FIELD_LONG:
        return json_integer(*(const long *)where);
    case FIELD_THREADS:
        if (spec->thread_count == 0)
            return json_integer(spec->cpu_threads);
        break;
    case FIELD_SEED:
        return json_integer((json_int_t) * (const uint64_t *)where);
    case FIELD_DOUBLE:
        return json_finite(*(const double *)where);
    case FIELD_BOOL:
        return json_boolean(*(const bool *)where);
    case FIELD_STRING:
    case FIELD_PATH:
        if (!*(char *const *)where)
            return json_null();
        break;
    default:
        break;
    }
    char *text = spec_field_text(spec, field);
    json_t *value = text ? json_string(text) : NULL;
    free(text);
    return value;
}

/* NULL: memory ran out. */
static json_t *origins_json(const struct spec *spec)
{
    json_t *object = json_object();
    for (size_t i = 0; object && i < spec_field_count; i++) {
        const char *origin = spec_origin_name(spec_origin(spec, &spec_fields[i]));
        char name[32];
        member_name(&spec_fields[i], name, sizeof name);
        if (origin)
            object =
                json_kept_if(json_object_set_new(object, name, json_string(origin)) == 0, object);
    }
    return object;
}

typedef bool is_wanted(const struct spec *spec, const struct spec_field *field);

/* NULL: all fields. */
static json_t *to_json(const struct spec *spec, is_wanted *wanted)
{
    json_t *object = json_object();
    for (size_t i = 0; object && i < spec_field_count; i++) {
        char name[32];
        if (wanted && !wanted(spec, &spec_fields[i]))
            continue;
        member_name(&spec_fields[i], name, sizeof name);
        object = json_kept_if(
            json_object_set_new(object, name, field_json(spec, &spec_fields[i])) == 0, object);
    }
    return object;
}

json_t *spec_to_json(const struct spec *spec)
{
    json_t *object = to_json(spec, NULL);
    if (!object || !spec->resolved)
        return object;
    return json_kept_if(json_object_set_new(object, origins_member, origins_json(spec)) == 0,
                        object);
}

static bool in_recipe(const struct spec *spec, const struct spec_field *field)
{
    (void)spec;
    return spec_in_recipe(field);
}

json_t *spec_recipe_to_json(const struct spec *spec)
{
    return to_json(spec, in_recipe);
}

static bool is_given(const struct spec *spec, const struct spec_field *field)
{
    return spec_origin(spec, field) == ORIGIN_GIVEN;
}

json_t *spec_given_to_json(const struct spec *spec)
{
    return to_json(spec, is_given);
}

bool spec_json_failed(const struct spec *spec, struct error *err)
{
    error_memory(err, "the settings");
    for (size_t i = 0; i < spec_field_count; i++) {
        json_t *value = field_json(spec, &spec_fields[i]);
        char *text = value ? NULL : spec_field_text(spec, &spec_fields[i]);
        if (text)
            error_set(err, ERROR_USAGE, "%s: '%s' is not UTF-8", spec_fields[i].key, text);
        free(text);
        json_decref(value);
    }
    return false;
}

/* A name or path is one as a JSON string only: 7 is no model. */
static bool needs_string(const char *key)
{
    const struct spec_field *field = spec_find_field(key);
    return field && (field->kind == FIELD_STRING || field->kind == FIELD_PATH);
}

/* A JSON value as the text form that spec_set reads; NULL with *err filled for other types. */
static char *json_text(const char *key, const json_t *value, struct error *err)
{
    const bool string = needs_string(key);
    char *text = NULL;
    if (json_is_string(value)) {
        text = strdup(json_string_value(value));
    } else if (json_is_integer(value) && !string) {
        text = text_format("%lld", (long long)json_integer_value(value));
    } else if (json_is_real(value) && !string) {
        text = spec_double_text(json_real_value(value));
    } else if (json_is_boolean(value) && !string) {
        text = strdup(json_is_true(value) ? "yes" : "no");
    } else {
        error_set(err, ERROR_USAGE, "'%s' must be %s", key,
                  string ? "a string" : "a string, a number or a boolean");
        return NULL;
    }
    return error_if_null(text, err, key);
}

bool spec_change(struct spec *spec, const json_t *object, struct error *err)
{
    if (!json_is_object(object))
        return error_set(err, ERROR_USAGE, "a run specification must be a JSON object");
    const char *key;
    json_t *value;
    bool ok = true;
    json_object_foreach((json_t *)object, key, value)
    {
        if (json_is_null(value) || strcmp(key, origins_member) == 0)
            continue;
        char *text = json_text(key, value, err);
        ok = text && spec_set(spec, key, text, err);
        free(text);
        if (!ok)
            break;
    }
    return ok;
}

static bool take_origins(struct spec *spec, const json_t *origins, struct error *err)
{
    const char *key;
    json_t *value;
    if (!json_is_object(origins))
        return error_set(err, ERROR_USAGE, "'%s' must be an object", origins_member);
    memset(spec->origin, ORIGIN_DEFAULT, sizeof spec->origin);
    json_object_foreach((json_t *)origins, key, value)
    {
        const struct spec_field *field = spec_find_field(key);
        const char *name = json_string_value(value);
        enum spec_origin origin;
        if (!field || !name || !spec_origin_find(name, &origin))
            return error_set(err, ERROR_USAGE, "'%s': '%.40s' has no such origin", origins_member,
                             key);
        spec_set_origin(spec, field, origin);
    }
    spec->resolved = true;
    return true;
}

bool spec_from_json(struct spec *spec, const json_t *object, struct error *err)
{
    spec_init(spec);
    bool ok = spec_change(spec, object, err);
    const json_t *origins = ok ? json_object_get(object, origins_member) : NULL;
    if (origins && !json_is_null(origins))
        ok = take_origins(spec, origins, err);
    if (!ok)
        spec_free(spec);
    return ok;
}
