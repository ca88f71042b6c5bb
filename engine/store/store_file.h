/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_STORE_STORE_FILE_H
#define DPARTUI_ENGINE_STORE_STORE_FILE_H

#include <sqlite3.h>
#include <stdint.h>

#include "engine/store/store.h"

/* The inside of a store, shared by the files of this folder. */
struct store {
    sqlite3 *db;
    char *path;
    int lock_fd; /* of PATH.lock, held by the one that writes; -1: a reader's */
};

/* ERROR_FAILED "PATH: cannot WHAT: REASON" from the library's last error. */
bool store_error(struct store *store, const char *what, struct error *err);

/* Statements without results; several, separated by semicolons. */
bool store_exec(struct store *store, const char *sql, const char *what, struct error *err);

/* schema.c: make the tables of a new file, or bring an older one up to date. */
bool store_migrate(struct store *store, int version, struct error *err);

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
};

void query_begin(struct query *query, struct store *store, const char *sql);
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

#endif
