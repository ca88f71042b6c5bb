/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_STORE_STORE_FILE_H
#define DPARTUI_STORE_STORE_FILE_H

#include <sqlite3.h>
#include <stdint.h>
#include <sys/types.h>

#include "store/store.h"
#include "store/update.h"

/* What is done for every epoch is prepared once. */
enum kept_statement { STATEMENT_RUN, STATEMENT_EVENT, STATEMENT_POINT, STATEMENT_COUNT };

/* Which file is meant, whatever is at its path now; 0, 0: none. */
struct file_identity {
    dev_t device;
    ino_t inode;
};

/* Of an open store: the database, its log and the index of that. */
struct store_identity {
    struct file_identity database, log, index;
};

/* The inside of a store, shared by the files of this folder and of rescue/. */
struct store {
    sqlite3 *db;
    char *path;
    sqlite3_stmt *kept[STATEMENT_COUNT];   /* NULL: not prepared yet; of `db` */
    const struct store_progress *progress; /* while it is opened; NULL: shown to nobody */
    int percent;                           /* reported last; -1: none */
    int lock_fd;                    /* of PATH.lock, held by the one that writes; -1: a reader's */
    bool keeps_damaged;             /* a damaged file is an error, and stays where it is */
    struct store_identity identity; /* of one that is open for writing */
};

/* "DPRT" as the application's number marks a file as ours. */
#define STORE_APPLICATION_ID 1146114644

/* What to do about a damaged store. */
#define STORE_ADVICE                                                                               \
    "'dpartui runs repair' saves what can be read; an engine that starts sets it aside"

/* A closed one, for store_close. NULL: memory ran out. */
struct store *store_new(const char *path, struct error *err);
/* The part of store_open after that; where store->lock_fd is the lock already, it is kept. */
bool store_begin_writing(struct store *store, char *notice, size_t notice_size, struct error *err);
/* For one who writes nothing and leaves the log to others. */
bool store_open_for_reading(struct store *store, struct error *err);
bool store_open_database(struct store *store, int flags, struct error *err);
void store_close_database(struct store *store);
/* A number that a pragma returns. */
bool store_pragma(struct store *store, const char *sql, int *value, struct error *err);

/* ERROR_FAILED "PATH: cannot WHAT: REASON" from the library's last error. */
bool store_error(struct store *store, const char *what, struct error *err);

/* Statements without results; several, separated by semicolons. */
bool store_exec(struct store *store, const char *sql, const char *what, struct error *err);

/*
 * store/write.c: changes that belong together, inside the caller's transaction or one of their own.
 * Parts nest. To end one that is not `ok` takes its changes back, and is false.
 */
bool store_part_begin(struct store *store, struct error *err);
bool store_part_end(struct store *store, bool ok, struct error *err);

/* schema.c: what brings a file of `version`, below STORE_VERSION, to the next one, as SQL. */
struct schema_step {
    const char *tables;  /* statements, first */
    const char *runs;    /* NULL, or one that changes runs, from number ? on and before number ? */
    const char *indexes; /* statements, last; NULL: none */
};
const struct schema_step *store_schema_step(int version);

/* update.c: as store_update, of a store that is known to be of an older version. */
bool store_update_now(const char *path, const struct store_progress *progress, struct error *err);
/* Make the tables of a new file, or bring an older one up to date. */
bool store_migrate(struct store *store, int version, struct error *err);

/* store/read.c: the tags of a run, sorted; a new array. */
bool store_tags(struct store *store, long run, json_t **tags, struct error *err);

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

/* store/read.c: the first column of all rows, parsed, as a new array; ends the query. */
bool store_collect(struct query *query, json_t **list, struct error *err);

#endif
