/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Stand-in for the Jansson library, with the functions and the behaviour that the engine uses, for
 * tests on machines that have a GPU but not the library (tests/gpu/run). See Jansson's manual for
 * what the functions do.
 */
typedef enum {
    JSON_OBJECT,
    JSON_ARRAY,
    JSON_STRING,
    JSON_INTEGER,
    JSON_REAL,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL
} json_type;

typedef long long json_int_t;
typedef struct json_t json_t;
typedef struct {
    int line, column, position;
    char source[80], text[160];
} json_error_t;

#define JSON_REJECT_DUPLICATES 0x1
#define JSON_INDENT(n)         ((size_t)(n)&0x1F) /* on one line all the same */
#define JSON_COMPACT           0x20
#define JSON_REAL_PRECISION(n) (((size_t)(n)&0x1F) << 11)
#define JSON_INTEGER_FORMAT    "lld"

json_type json_typeof(const json_t *json); /* not of NULL */
json_t *json_incref(json_t *json);
void json_decref(json_t *json);

json_t *json_object(void);
json_t *json_array(void);
json_t *json_string(const char *text);
json_t *json_integer(json_int_t value);
json_t *json_real(double value);
json_t *json_boolean(int value);
json_t *json_null(void);
json_t *json_pack(const char *format, ...);

/* Members and elements stay in the order in which they were put there. */
size_t json_object_size(const json_t *object);
json_t *json_object_get(const json_t *object, const char *key);
int json_object_set_new(json_t *object, const char *key, json_t *value);
int json_object_update(json_t *object, json_t *other);
int json_object_update_missing(json_t *object, json_t *other);
size_t json_array_size(const json_t *array);
json_t *json_array_get(const json_t *array, size_t index);
int json_array_append_new(json_t *array, json_t *value);

const char *json_string_value(const json_t *json);
json_int_t json_integer_value(const json_t *json);
double json_real_value(const json_t *json);
double json_number_value(const json_t *json);
int json_equal(const json_t *one, const json_t *other);

static inline bool json_is_type(const json_t *json, json_type type)
{
    return json && json_typeof(json) == type;
}
#define json_is_object(j)  json_is_type(j, JSON_OBJECT)
#define json_is_array(j)   json_is_type(j, JSON_ARRAY)
#define json_is_string(j)  json_is_type(j, JSON_STRING)
#define json_is_integer(j) json_is_type(j, JSON_INTEGER)
#define json_is_real(j)    json_is_type(j, JSON_REAL)
#define json_is_number(j)  (json_is_integer(j) || json_is_real(j))
#define json_is_true(j)    json_is_type(j, JSON_TRUE)
#define json_is_false(j)   json_is_type(j, JSON_FALSE)
#define json_is_boolean(j) (json_is_true(j) || json_is_false(j))
#define json_is_null(j)    json_is_type(j, JSON_NULL)

const char *json_lite_key(const json_t *object, size_t index);
json_t *json_lite_value(const json_t *object, size_t index);
#define json_object_foreach(OBJECT, KEY, VALUE)                                                    \
    for (size_t json_at = 0; ((KEY) = json_lite_key(OBJECT, json_at)) != NULL &&                   \
                             ((VALUE) = json_lite_value(OBJECT, json_at)) != NULL;                 \
         json_at++)
#define json_array_foreach(ARRAY, INDEX, VALUE)                                                    \
    for ((INDEX) = 0;                                                                              \
         (INDEX) < json_array_size(ARRAY) && ((VALUE) = json_array_get(ARRAY, INDEX)) != NULL;     \
         (INDEX)++)

json_t *json_loads(const char *text, size_t flags, json_error_t *error);
json_t *json_loadb(const char *text, size_t length, size_t flags, json_error_t *error);
/* On one line, the caller frees it. */
char *json_dumps(const json_t *json, size_t flags);
typedef int (*json_dump_callback_t)(const char *buffer, size_t size, void *data);
int json_dump_callback(const json_t *json, json_dump_callback_t callback, void *data, size_t flags);

/* For what these stand-ins have no use. */
static inline void json_object_seed(size_t seed)
{
    (void)seed;
}

static inline void json_set_alloc_funcs(void *(*allocate)(size_t), void (*release)(void *))
{
    (void)allocate;
    (void)release;
}
