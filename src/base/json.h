/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

/* To be called first of all, while there is one thread: where json_read and the writers below get
 * memory from when it runs out. Without it they do without. */
void json_begin(void);

/*
 * As json_loadb. Jansson 2.14 drops a byte of a string for which it got no memory, and then
 * returns another string or ends the process by an assertion: memory is held back for it.
 */
json_t *json_read(const char *text, size_t length, size_t flags, json_error_t *where);

/*
 * Typed access to members of a JSON object for things that came from outside. A missing (or null)
 * member leaves *out as it was and is no error; a wrong type or a value out of bounds is
 * ERROR_USAGE naming the member.
 */
bool json_get_bool(const json_t *object, const char *key, bool *out, struct error *err);
bool json_get_long(const json_t *object, const char *key, long low, long high, long *out,
                   struct error *err);
bool json_get_double(const json_t *object, const char *key, double low, double high, double *out,
                     struct error *err);
/* *out is borrowed from the object. */
bool json_get_string(const json_t *object, const char *key, const char **out, struct error *err);

/*
 * A string for text that may hold anything (paths, messages of the system): bytes that are not
 * UTF-8 become escapes as \xff (base/escape.h). NULL: memory ran out.
 */
json_t *json_any_text(const char *text);
/* The same; JSON's null for "" and for NULL. */
json_t *string_or_null(const char *text);

/*
 * How the protocol, the log and --json write: on one line, 15 digits, which is as many as any
 * decimal fraction survives, so that 0.1 is 0.1.
 */
#define JSON_DIGITS JSON_REAL_PRECISION(15)
#define JSON_LINE   (JSON_COMPACT | JSON_DIGITS)

/*
 * JSON as both programs write it wherever it goes. Characters that are hidden (base/escape.h) are
 * JSON's own escapes in it, so that a terminal may show it and who parses it gets them back.
 *
 * As json_dumps: a string for free(), NULL when memory ran out. (Jansson 2.14 does not notice when
 * memory runs out for the key of a member, so it is held back for that, too.)
 */
char *json_to_text(const json_t *json, size_t flags);
/* The same text into a stream, whose error indicator says whether it could be written. */
bool json_to_file(const json_t *json, FILE *file, size_t flags);
/* Its bytes; 0: it has none. */
size_t json_length(const json_t *json, size_t flags);

/* The same value where `ok`; else, as memory ran out while it was made, it is released: NULL. */
json_t *json_kept_if(bool ok, json_t *json);

/* A finite number as a JSON real, anything else as null (JSON has no NaN). */
json_t *json_finite(double value);
/* The same, but NULL for others: json_pack leaves a member of "o*" out then. */
json_t *json_if_finite(double value);

/* A number member of a JSON object; NAN when it is missing or null. */
double member_number(const json_t *object, const char *key);
/* What an epoch, or a run's newest one, is compared by: its accuracy on validation rows, where it
 * has one, else that on test rows. NAN: neither is known. */
double member_score(const json_t *object);
/* A number that is above 0, else 0. */
double member_positive(const json_t *object, const char *key);
/* A whole number; 0 when it is missing or null. */
json_int_t member_integer(const json_t *object, const char *key);
/* A string member; "-" when it is missing or null. */
const char *member_text(const json_t *object, const char *key);
/* The same; "" then. */
const char *member_string(const json_t *object, const char *key);

/* A JSON value on standard output, with a newline after it. */
void print_json(const json_t *value);
/* The same of one that was made for it, and is released. NULL: memory ran out. */
bool print_json_made(json_t *value, const char *what, struct error *err);
