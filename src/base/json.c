/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/escape.h"
#include "base/text.h"

/* Twice the longest line of the protocol, for text that is doubled as it grows, and more. Nobody
 * writes to it, so it takes no memory until it is given up. */
#define HELD_BACK (4UL << 20)

static void *_Atomic held_back;
/* Whether what this thread does in the library must not run out of memory. */
static _Thread_local bool must_succeed;

static void hold_back(void)
{
    void *none = NULL, *memory = atomic_load(&held_back) ? NULL : malloc(HELD_BACK);
    if (memory && !atomic_compare_exchange_strong(&held_back, &none, memory))
        free(memory);
}

static void *allocate(size_t size)
{
    void *memory = malloc(size);
    if (memory || !must_succeed)
        return memory;
    free(atomic_exchange(&held_back, NULL));
    return malloc(size);
}

void json_begin(void)
{
    json_object_seed(0);
    json_set_alloc_funcs(allocate, free);
    hold_back();
}

json_t *json_read(const char *text, size_t length, size_t flags, json_error_t *where)
{
    hold_back();
    must_succeed = true;
    json_t *json = json_loadb(text, length, flags, where);
    must_succeed = false;
    return json;
}

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
    struct text copy = TEXT_INIT;
    if (string)
        return string;
    for (size_t bytes; *text; text += bytes ? bytes : 1) {
        char32_t character;
        bytes = utf8_decode(text, UTF8_BYTES, &character);
        if (bytes)
            text_append(&copy, text, bytes);
        else
            text_printf(&copy, "\\x%02x", (unsigned char)*text);
    }
    string = text_cstr(&copy) ? json_string(copy.data) : NULL;
    text_free(&copy);
    return string;
}

json_t *string_or_null(const char *text)
{
    return text && *text ? json_any_text(text) : json_null();
}

/* Where a text in JSON goes to. */
struct json_sink {
    void (*put)(void *context, const char *bytes, size_t length);
    void *context;
};

static void put_escape(const struct json_sink *sink, char32_t character)
{
    char escape[16];
    unsigned code = character;
    int length = code < 0x10000
                     ? snprintf(escape, sizeof escape, "\\u%04x", code)
                     : snprintf(escape, sizeof escape, "\\u%04x\\u%04x",
                                0xd800 + ((code - 0x10000) >> 10), 0xdc00 + (code & 0x3ff));
    sink->put(sink->context, escape, (size_t)length);
}

/*
 * Hidden characters of strings as JSON's escapes. Those below U+0020 are the library's work: here
 * they are the breaks between lines.
 */
static int dump(const char *bytes, size_t length, void *context)
{
    const struct json_sink *sink = context;
    size_t done = 0;
    for (size_t at = 0, size; at < length; at += size) {
        char32_t character = 0;
        bool ascii = (unsigned char)bytes[at] < 0x7f;
        size = ascii ? 0 : utf8_decode(bytes + at, length - at, &character);
        if (size && escape_hidden(character)) {
            sink->put(sink->context, bytes + done, at - done);
            put_escape(sink, character);
            done = at + size;
        }
        size = size ? size : 1;
    }
    sink->put(sink->context, bytes + done, length - done);
    return 0;
}

static bool write_json(const json_t *json, struct json_sink *sink, size_t flags)
{
    hold_back();
    must_succeed = true;
    bool ok = json_dump_callback(json, dump, sink, flags) == 0;
    must_succeed = false;
    return ok;
}

static void put_text(void *context, const char *bytes, size_t length)
{
    text_append(context, bytes, length);
}

char *json_to_text(const json_t *json, size_t flags)
{
    struct text text = TEXT_INIT;
    struct json_sink sink = {put_text, &text};
    /* A failure is remembered by the text. */
    if (write_json(json, &sink, flags) && !text.failed)
        return text.data;
    text_free(&text);
    return NULL;
}

static void put_file(void *context, const char *bytes, size_t length)
{
    fwrite(bytes, 1, length, context);
}

bool json_to_file(const json_t *json, FILE *file, size_t flags)
{
    struct json_sink sink = {put_file, file};
    return write_json(json, &sink, flags);
}

static void put_count(void *context, const char *bytes, size_t length)
{
    (void)bytes;
    *(size_t *)context += length;
}

size_t json_length(const json_t *json, size_t flags)
{
    size_t count = 0;
    struct json_sink sink = {put_count, &count};
    return write_json(json, &sink, flags) ? count : 0;
}

json_t *json_kept_if(bool ok, json_t *json)
{
    if (ok)
        return json;
    json_decref(json);
    return NULL;
}

json_t *json_finite(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_if_finite(double value)
{
    return isfinite(value) ? json_real(value) : NULL;
}

double member_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

double member_score(const json_t *object)
{
    double score = member_number(object, "val_acc");
    return isnan(score) ? member_number(object, "test_acc") : score;
}

double member_positive(const json_t *object, const char *key)
{
    double value = member_number(object, key);
    return isfinite(value) && value > 0 ? value : 0;
}

json_int_t member_integer(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

const char *member_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "-";
}

const char *member_string(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

void print_json(const json_t *value)
{
    json_to_file(value, stdout, JSON_INDENT(1) | JSON_DIGITS);
    putchar('\n');
}

bool print_json_made(json_t *value, const char *what, struct error *err)
{
    if (!value)
        return error_memory(err, what);
    print_json(value);
    json_decref(value);
    return true;
}
