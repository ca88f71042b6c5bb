/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "store/database.h"

/*
 * A statement from its preparation to its end. The first failure is remembered; all later calls do
 * nothing, so that only `query_end` needs to be checked.
 */
struct query {
    struct store *store;
    sqlite3_stmt *statement;
    int status;  /* of the library */
    int next;    /* parameter to bind */
    bool memory; /* ran out */
    bool kept;   /* the statement is the store's */
};

void query_begin(struct query *query, struct store *store, const char *sql);
/* With a statement that the store keeps from one time to the next; `sql` belongs to `which`. */
void query_begin_kept(struct query *query, struct store *store, enum kept_statement which,
                      const char *sql);
void query_release_kept(struct store *store); /* before the database is closed */
void query_bind_long(struct query *query, int64_t value);
void query_bind_double(struct query *query, double value);     /* NAN: NULL */
void query_bind_text(struct query *query, const char *text);   /* copied; NULL: NULL */
void query_bind_json(struct query *query, const json_t *json); /* its text; NULL: NULL */
/* Next row; false at the end and after a failure. */
bool query_row(struct query *query);
const char *query_text(const struct query *query, int column); /* until the next row; "" for NULL */
json_t *query_json(struct query *query, int column);           /* a new reference; null for NULL */
/* Run to the end (for those without rows) and release. False with *err if anything failed. */
bool query_end(struct query *query, const char *what, struct error *err);
/* The same, unless the use of its rows failed already: then *err is left as it is. */
bool query_finish(struct query *query, bool ok, const char *what, struct error *err);
