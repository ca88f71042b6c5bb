/* SPDX-License-Identifier: MIT */
#pragma once

#include <sqlite3.h>
#include <stdint.h>
#include <sys/types.h>

#include "store/store.h"

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

/* A store for the files of this folder and of rescue/: its database and its lock. */
struct store {
    sqlite3 *db;
    char *path;
    sqlite3_stmt *kept[STATEMENT_COUNT];   /* NULL: not prepared yet; of `db` */
    const struct store_progress *progress; /* while it is opened; NULL: not shown */
    int percent;                           /* reported last; -1: none */
    int lock_fd;                    /* of PATH.lock, held by the one that writes; -1: a reader's */
    bool keeps_damaged;             /* a damaged file is an error, and stays where it is */
    struct store_identity identity; /* of one that is open for writing */
    long unread, first_unread;      /* runs that the last list leaves out; number of the first */
};

/* "DPRT" as the application's number marks a file as ours. */
#define STORE_APPLICATION_ID 1146114644

/* What to do about a damaged store. */
#define STORE_ADVICE                                                                               \
    "'dpartui runs repair' saves what can be read; an engine that starts sets it aside"

/* A closed one, for store_close. NULL: memory ran out. */
struct store *store_new(const char *path, struct error *err);
/* For a reader, which leaves the log to the writer. */
bool store_open_for_reading(struct store *store, struct error *err);
bool store_open_database(struct store *store, int flags, struct error *err);
void store_close_database(struct store *store);
/* A number that a pragma returns. */
bool store_pragma(struct store *store, const char *sql, int *value, struct error *err);

/* ERROR_FAILED "PATH: cannot WHAT: REASON" from the library's last error. */
bool store_error(struct store *store, const char *what, struct error *err);

/* Statements without results; several, separated by semicolons. */
bool store_exec(struct store *store, const char *sql, const char *what, struct error *err);

/* ERROR_FAILED: it is of `version`, which is newer than what this program knows. */
bool store_refuse_newer(struct store *store, int version, struct error *err);
