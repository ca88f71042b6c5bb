/* SPDX-License-Identifier: MIT */
#include "store/database.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/doubt.h"
#include "store/query.h"

/* How long to wait for a reader or writer in the middle of something. */
#define BUSY_MS 5000

bool store_error(struct store *store, const char *what, struct error *err)
{
    int code = store->db ? sqlite3_extended_errcode(store->db) : SQLITE_NOMEM;
    const char *advice = (code & 0xff) == SQLITE_FULL       ? ": free some space there"
                         : (code & 0xff) == SQLITE_READONLY ? ": make it writable"
                         : (code & 0xff) == SQLITE_BUSY     ? ": another program keeps it locked"
                         : (code & 0xff) == SQLITE_CORRUPT  ? ": it is damaged; " STORE_ADVICE
                                                            : "";
    if (store->lock_fd >= 0 && ((code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB))
        store_doubt(store->path);
    return error_set(err, ERROR_FAILED, "%s: cannot %s: %s%s", store->path, what,
                     store->db ? sqlite3_errmsg(store->db) : "out of memory", advice);
}

bool store_exec(struct store *store, const char *sql, const char *what, struct error *err)
{
    return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ||
           store_error(store, what, err);
}

struct store *store_new(const char *path, struct error *err)
{
    struct store *store = calloc(1, sizeof *store);
    if (store) {
        store->lock_fd = -1;
        store->path = strdup(path);
    }
    if (store && store->path)
        return store;
    free(store);
    error_memory(err, "run store");
    return NULL;
}

bool store_open_database(struct store *store, int flags, struct error *err)
{
    struct stat info;
    /* A pipe would be waited for. */
    if (stat(store->path, &info) == 0 && !S_ISREG(info.st_mode))
        return error_set(err, ERROR_FAILED, "%s: is no regular file: move it away", store->path);
    if (sqlite3_open_v2(store->path, &store->db, flags, NULL) != SQLITE_OK)
        return store_error(store, "be opened", err);
    sqlite3_extended_result_codes(store->db, 1);
    sqlite3_busy_timeout(store->db, BUSY_MS);
    return true;
}

void store_close_database(struct store *store)
{
    query_release_kept(store);
    sqlite3_close(store->db);
    store->db = NULL;
}

bool store_pragma(struct store *store, const char *sql, int *value, struct error *err)
{
    struct query query;
    *value = 0;
    query_begin(&query, store, sql);
    if (query_row(&query))
        *value = sqlite3_column_int(query.statement, 0);
    return query_end(&query, "be read", err);
}

bool store_refuse_newer(struct store *store, int version, struct error *err)
{
    return error_set(err, ERROR_FAILED,
                     "%s: is of a newer version of dpartui (store version %d, this program knows "
                     "up to %d): use that one, or move the file away",
                     store->path, version, STORE_VERSION);
}

bool store_open_for_reading(struct store *store, struct error *err)
{
    if (!store_open_database(store, SQLITE_OPEN_READWRITE, err)) {
        store_close_database(store);
        if (!store_open_database(store, SQLITE_OPEN_READONLY, err))
            return false;
    }
    /* The log may be that of another file, which was at this path when its engine opened it: only
     * the writer moves it into the file. */
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return true;
}
