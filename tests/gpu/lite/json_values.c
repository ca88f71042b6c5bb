/* SPDX-License-Identifier: MIT */
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Values of JSON, and json_pack. */

struct json_t {
    json_type type;
    int references; /* not of true, false, null */
    size_t count;   /* members, elements */
    char **keys;    /* of an object */
    json_t **values;
    char *text;
    json_int_t integer;
    double real;
};

json_type json_typeof(const json_t *json)
{
    return json->type;
}

json_t *json_incref(json_t *json)
{
    if (json && json->type < JSON_TRUE)
        json->references++;
    return json;
}

void json_decref(json_t *json)
{
    if (!json || json->type >= JSON_TRUE || --json->references > 0)
        return;
    for (size_t i = 0; i < json->count; i++) {
        if (json->keys)
            free(json->keys[i]);
        json_decref(json->values[i]);
    }
    free(json->keys);
    free(json->values);
    free(json->text);
    free(json);
}

static json_t *make(json_type type)
{
    json_t *json = calloc(1, sizeof *json);
    if (json)
        *json = (json_t){.type = type, .references = 1};
    return json;
}

json_t *json_object(void)
{
    return make(JSON_OBJECT);
}

json_t *json_array(void)
{
    return make(JSON_ARRAY);
}

json_t *json_string(const char *text)
{
    json_t *json = text ? make(JSON_STRING) : NULL;
    if (json && !(json->text = strdup(text))) {
        free(json);
        return NULL;
    }
    return json;
}

json_t *json_integer(json_int_t value)
{
    json_t *json = make(JSON_INTEGER);
    if (json)
        json->integer = value;
    return json;
}

json_t *json_real(double value)
{
    json_t *json = value - value == 0 ? make(JSON_REAL) : NULL; /* not of NaN and infinity */
    if (json)
        json->real = value;
    return json;
}

json_t *json_boolean(int value)
{
    static json_t yes = {.type = JSON_TRUE}, no = {.type = JSON_FALSE};
    return value ? &yes : &no;
}

json_t *json_null(void)
{
    static json_t null = {.type = JSON_NULL};
    return &null;
}

size_t json_object_size(const json_t *object)
{
    return json_is_object(object) ? object->count : 0;
}

size_t json_array_size(const json_t *array)
{
    return json_is_array(array) ? array->count : 0;
}

const char *json_lite_key(const json_t *object, size_t index)
{
    return index < json_object_size(object) ? object->keys[index] : NULL;
}

json_t *json_lite_value(const json_t *object, size_t index)
{
    return index < json_object_size(object) ? object->values[index] : NULL;
}

static json_t **find(const json_t *object, const char *key)
{
    for (size_t i = 0; key && i < json_object_size(object); i++)
        if (strcmp(object->keys[i], key) == 0)
            return &object->values[i];
    return NULL;
}

json_t *json_object_get(const json_t *object, const char *key)
{
    json_t **place = find(object, key);
    return place ? *place : NULL;
}

json_t *json_array_get(const json_t *array, size_t index)
{
    return index < json_array_size(array) ? array->values[index] : NULL;
}

/* Room for one more; powers of two. */
static bool grow(json_t *json)
{
    if (json->count & (json->count - 1))
        return true;
    size_t room = json->count ? 2 * json->count : 1;
    json_t **values = realloc(json->values, room * sizeof *values);
    if (values)
        json->values = values;
    char **keys = json->type == JSON_OBJECT ? realloc(json->keys, room * sizeof *keys) : json->keys;
    if (keys)
        json->keys = keys;
    return values && (keys || json->type == JSON_ARRAY);
}

int json_array_append_new(json_t *array, json_t *value)
{
    if (!value || !json_is_array(array) || !grow(array)) {
        json_decref(value);
        return -1;
    }
    array->values[array->count++] = value;
    return 0;
}

int json_object_set_new(json_t *object, const char *key, json_t *value)
{
    json_t **place = find(object, key);
    char *copy = NULL;
    if (value && place) {
        json_decref(*place);
        *place = value;
        return 0;
    }
    if (!value || !key || !json_is_object(object) || !grow(object) || !(copy = strdup(key))) {
        json_decref(value);
        return -1;
    }
    object->keys[object->count] = copy;
    object->values[object->count++] = value;
    return 0;
}

int json_object_update(json_t *object, json_t *other)
{
    for (size_t i = 0; i < json_object_size(other); i++)
        if (json_object_set_new(object, other->keys[i], json_incref(other->values[i])) != 0)
            return -1;
    return 0;
}

int json_object_update_missing(json_t *object, json_t *other)
{
    for (size_t i = 0; i < json_object_size(other); i++)
        if (!find(object, other->keys[i]) &&
            json_object_set_new(object, other->keys[i], json_incref(other->values[i])) != 0)
            return -1;
    return 0;
}

const char *json_string_value(const json_t *json)
{
    return json_is_string(json) ? json->text : NULL;
}

json_int_t json_integer_value(const json_t *json)
{
    return json_is_integer(json) ? json->integer : 0;
}

double json_real_value(const json_t *json)
{
    return json_is_real(json) ? json->real : 0;
}

double json_number_value(const json_t *json)
{
    return json_is_integer(json) ? (double)json->integer : json_real_value(json);
}

int json_equal(const json_t *one, const json_t *other)
{
    if (!one || !other || one->type != other->type || one->count != other->count)
        return 0;
    for (size_t i = 0; i < one->count; i++) {
        const json_t *value = one->keys ? json_object_get(other, one->keys[i]) : other->values[i];
        if (!json_equal(one->values[i], value))
            return 0;
    }
    return one->integer == other->integer && one->real == other->real &&
           (!one->text || strcmp(one->text, other->text) == 0);
}

/* --- json_pack --- */

struct packing {
    const char *at;
    va_list args;
    bool failed;
};

static char next_sign(struct packing *p)
{
    p->at += strspn(p->at, " ,:");
    return *p->at ? *p->at++ : '\0';
}

static json_t *pack_value(struct packing *p, char sign);

static json_t *pack_members(struct packing *p)
{
    json_t *object = json_object();
    for (char sign = next_sign(p); sign && sign != '}'; sign = next_sign(p)) {
        const char *key = va_arg(p->args, const char *);
        sign = next_sign(p);
        json_t *value = pack_value(p, sign);
        bool left_out = *p->at == '*';
        p->at += left_out;
        if (value || !left_out)
            p->failed |= json_object_set_new(object, key, value) != 0;
    }
    return object;
}

static json_t *pack_elements(struct packing *p)
{
    json_t *array = json_array();
    for (char sign = next_sign(p); sign && sign != ']'; sign = next_sign(p))
        p->failed |= json_array_append_new(array, pack_value(p, sign)) != 0;
    return array;
}

static json_t *pack_value(struct packing *p, char sign)
{
    switch (sign) {
    case '{':
        return pack_members(p);
    case '[':
        return pack_elements(p);
    case 's':
        return json_string(va_arg(p->args, const char *));
    case 'i':
        return json_integer(va_arg(p->args, int));
    case 'I':
        return json_integer(va_arg(p->args, json_int_t));
    case 'f':
        return json_real(va_arg(p->args, double));
    case 'b':
        return json_boolean(va_arg(p->args, int));
    case 'o':
        return va_arg(p->args, json_t *);
    case 'O':
        return json_incref(va_arg(p->args, json_t *));
    case 'n':
        return json_null();
    default:
        p->failed = true;
        return NULL;
    }
}

json_t *json_pack(const char *format, ...)
{
    struct packing p = {.at = format};
    va_start(p.args, format);
    json_t *json = pack_value(&p, next_sign(&p));
    va_end(p.args);
    if (!p.failed)
        return json;
    json_decref(json);
    return NULL;
}
