/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* JSON to text and back. */

enum { DEEPEST = 200 };

struct reader {
    const char *begin, *at, *end;
    size_t flags;
    json_error_t *error;
    bool failed;
};

static json_t *fail(struct reader *r, const char *why)
{
    if (!r->failed && r->error) {
        *r->error = (json_error_t){.line = 1, .position = (int)(r->at - r->begin)};
        snprintf(r->error->text, sizeof r->error->text, "%s near byte %d", why, r->error->position);
    }
    r->failed = true;
    return NULL;
}

static void skip_blanks(struct reader *r)
{
    while (r->at < r->end && memchr(" \t\r\n", *r->at, 4))
        r->at++;
}

static bool take(struct reader *r, char sign)
{
    skip_blanks(r);
    if (r->at == r->end || *r->at != sign)
        return false;
    r->at++;
    return true;
}

static bool take_word(struct reader *r, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

/* The character of \uXXXX as UTF-8; those of two such units are not made by this program. */
static size_t read_unit(struct reader *r, char *to)
{
    char digits[5] = "";
    if (r->end - r->at < 4)
        return 0;
    memcpy(digits, r->at, 4);
    char *rest;
    unsigned long code = strtoul(digits, &rest, 16);
    if (*rest || code == 0 || (code >= 0xd800 && code < 0xe000))
        return 0;
    r->at += 4;
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xc0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    to[0] = (char)(0xe0 | code >> 12);
    to[1] = (char)(0x80 | (code >> 6 & 0x3f));
    to[2] = (char)(0x80 | (code & 0x3f));
    return 3;
}

static size_t read_escape(struct reader *r, char *to)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    if (r->at == r->end)
        return 0;
    char sign = *r->at++;
    if (sign == 'u')
        return read_unit(r, to);
    const char *found = sign ? strchr(from, sign) : NULL;
    if (found)
        *to = into[found - from];
    return found != NULL;
}

/* After the opening quote; NULL: failed. The caller frees it. */
static char *read_string(struct reader *r)
{
    char *text = malloc((size_t)(r->end - r->at) + 1);
    size_t length = 0;
    while (text && r->at < r->end && *r->at != '"') {
        char sign = *r->at++;
        size_t some = 1;
        if (sign == '\\')
            some = read_escape(r, text + length);
        else
            text[length] = sign;
        if (some == 0 || (unsigned char)sign < 0x20)
            break;
        length += some;
    }
    if (!text || r->at == r->end || *r->at++ != '"') {
        free(text);
        fail(r, "bad string");
        return NULL;
    }
    text[length] = '\0';
    return text;
}

static json_t *read_number(struct reader *r)
{
    char text[64];
    size_t length = 0;
    while (r->at + length < r->end && length + 1 < sizeof text &&
           (isdigit((unsigned char)r->at[length]) || strchr("+-.eE", r->at[length])))
        length++;
    memcpy(text, r->at, length);
    text[length] = '\0';
    bool whole = !strpbrk(text, ".eE");
    char *rest;
    errno = 0;
    long long integer = whole ? strtoll(text, &rest, 10) : 0;
    double real = whole ? 0 : strtod(text, &rest);
    if (length == 0 || *rest || errno == ERANGE || text[0] == '+')
        return fail(r, "bad number");
    r->at += length;
    return whole ? json_integer(integer) : json_real(real);
}

static json_t *read_value(struct reader *r, int depth);

static json_t *read_members(struct reader *r, int depth)
{
    json_t *object = json_object();
    bool more = object && !take(r, '}');
    while (more) {
        char *key = take(r, '"') ? read_string(r) : NULL;
        bool again = key && json_object_get(object, key);
        json_t *value = key && take(r, ':') ? read_value(r, depth) : NULL;
        bool kept = json_object_set_new(object, key, value) == 0;
        free(key);
        if (!kept || (again && r->flags & JSON_REJECT_DUPLICATES)) {
            json_decref(object);
            return fail(r, again ? "duplicate key" : "bad member");
        }
        more = take(r, ',');
        if (!more && !take(r, '}')) {
            json_decref(object);
            return fail(r, "'}' expected");
        }
    }
    return object;
}

static json_t *read_elements(struct reader *r, int depth)
{
    json_t *array = json_array();
    bool more = array && !take(r, ']');
    while (more) {
        bool kept = json_array_append_new(array, read_value(r, depth)) == 0;
        more = kept && take(r, ',');
        if (!kept || (!more && !take(r, ']'))) {
            json_decref(array);
            return fail(r, "']' expected");
        }
    }
    return array;
}

static json_t *read_value(struct reader *r, int depth)
{
    if (depth > DEEPEST)
        return fail(r, "too deep");
    if (take(r, '{'))
        return read_members(r, depth + 1);
    if (take(r, '['))
        return read_elements(r, depth + 1);
    if (take(r, '"')) {
        char *text = read_string(r);
        json_t *json = json_string(text);
        free(text);
        return json;
    }
    if (take_word(r, "true"))
        return json_boolean(1);
    if (take_word(r, "false"))
        return json_boolean(0);
    if (take_word(r, "null"))
        return json_null();
    return read_number(r);
}

json_t *json_loadb(const char *text, size_t length, size_t flags, json_error_t *error)
{
    struct reader r = {text, text, text + length, flags, error, false};
    json_t *json = read_value(&r, 0);
    skip_blanks(&r);
    if (json && (r.at != r.end || !(json_is_object(json) || json_is_array(json)))) {
        json_decref(json);
        return fail(&r, "end of file expected");
    }
    return json;
}

json_t *json_loads(const char *text, size_t flags, json_error_t *error)
{
    return json_loadb(text, strlen(text), flags, error);
}

static void write_string(FILE *out, const char *text)
{
    putc('"', out);
    for (const char *at = text; *at; at++) {
        if (*at == '"' || *at == '\\')
            fprintf(out, "\\%c", *at);
        else if ((unsigned char)*at < 0x20)
            fprintf(out, "\\u%04x", (unsigned)*at);
        else
            putc(*at, out);
    }
    putc('"', out);
}

static void write_real(FILE *out, double value, size_t flags)
{
    char text[64];
    int digits = (int)(flags >> 11 & 0x1f);
    snprintf(text, sizeof text, "%.*g", digits ? digits : 17, value);
    fprintf(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

static void write_value(FILE *out, const json_t *json, size_t flags)
{
    const char *comma = flags & JSON_COMPACT ? "," : ", ", *sign = "";
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        putc('{', out);
        for (size_t i = 0; i < json_object_size(json); i++, sign = comma) {
            fputs(sign, out);
            write_string(out, json_lite_key(json, i));
            fputs(flags & JSON_COMPACT ? ":" : ": ", out);
            write_value(out, json_lite_value(json, i), flags);
        }
        putc('}', out);
        break;
    case JSON_ARRAY:
        putc('[', out);
        for (size_t i = 0; i < json_array_size(json); i++, sign = comma) {
            fputs(sign, out);
            write_value(out, json_array_get(json, i), flags);
        }
        putc(']', out);
        break;
    case JSON_STRING:
        write_string(out, json_string_value(json));
        break;
    case JSON_INTEGER:
        fprintf(out, "%lld", json_integer_value(json));
        break;
    case JSON_REAL:
        write_real(out, json_real_value(json), flags);
        break;
    case JSON_TRUE:
        fputs("true", out);
        break;
    case JSON_FALSE:
        fputs("false", out);
        break;
    case JSON_NULL:
        fputs("null", out);
        break;
    }
}

static char *write_text(const json_t *json, size_t flags, size_t *length)
{
    char *text = NULL;
    FILE *out = json ? open_memstream(&text, length) : NULL;
    if (!out)
        return NULL;
    write_value(out, json, flags);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

char *json_dumps(const json_t *json, size_t flags)
{
    size_t length;
    return write_text(json, flags, &length);
}

int json_dump_callback(const json_t *json, json_dump_callback_t callback, void *data, size_t flags)
{
    size_t length;
    char *text = write_text(json, flags, &length);
    int status = text ? callback(text, length, data) : -1;
    free(text);
    return status;
}
