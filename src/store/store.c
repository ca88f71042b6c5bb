/* SPDX-License-Identifier: MIT */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/doubt.h"
#include "store/examine.h"
#include "store/lock.h"
#include "store/place.h"
#include "store/replace.h"
#include "store/store_file.h"

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

bool store_begin(struct store *store, struct error *err)
{
    return store_exec(store, "BEGIN IMMEDIATE", "be written", err);
}

bool store_commit(struct store *store, struct error *err)
{
    if (store_exec(store, "COMMIT", "be written", err))
        return true;
    store_rollback(store);
    return false;
}

void store_rollback(struct store *store)
{
    /* Some failures have rolled back already. */
    if (!sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
}

/* A number that a pragma answers. */
bool store_pragma(struct store *store, const char *sql, int *value, struct error *err)
{
    struct query query;
    *value = 0;
    query_begin(&query, store, sql);
    if (query_row(&query))
        *value = sqlite3_column_int(query.statement, 0);
    return query_end(&query, "be read", err);
}

static bool newer(struct store *store, int version, struct error *err)
{
    return error_set(err, ERROR_FAILED,
                     "%s: is of a newer version of dpartui (store version %d, this program knows "
                     "up to %d): use that one, or move the file away",
                     store->path, version, STORE_VERSION);
}

bool store_open_database(struct store *store, int flags, struct error *err)
{
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

static bool start_writing(struct store *store, struct error *err)
{
    int version;
    if (!store_pragma(store, "PRAGMA user_version", &version, err))
        return false;
    if (version > STORE_VERSION)
        return newer(store, version, err);
    return store_exec(store,
                      "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                      "PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = 400;"
                      "PRAGMA journal_size_limit = 4194304",
                      "be set up", err) &&
           store_migrate(store, version, err);
}

const char *store_path(const struct store *store)
{
    return store->path;
}

bool store_has_writer(const struct store *store)
{
    return store_is_locked(store->path);
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

static bool open_writing(struct store *store, char *notice, size_t notice_size, struct error *err)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW;
    if (store->lock_fd < 0 &&
        !store_lock_showing(store->path, store->progress, &store->lock_fd, err))
        return false;
    store_mark_unclean_end(store->path);
    bool thorough = store_is_doubted(store->path);
    if (!store_open_database(store, flags, err))
        return false;
    enum store_condition condition = store_examine_twice(store, thorough, flags, err);
    if (condition == STORE_UNKNOWN)
        return false;
    if (condition == STORE_DAMAGED && store->keeps_damaged) {
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        store_close_database(store);
        return error_set(err, ERROR_FAILED, "%s: is damaged; " STORE_ADVICE, store->path);
    }
    if (condition == STORE_DAMAGED) {
        store_close_database(store);
        if (!store_set_aside(store, notice, notice_size, err) ||
            !store_open_database(store, flags, err))
            return false;
    }
    if (!start_writing(store, err))
        return false;
    store_identity_take(store->path, &store->identity);
    return true;
}

/* A file of 0 bytes, which no engine leaves but one that was killed in its very first moment. */
static bool is_emptied(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && info.st_size == 0;
}

bool store_begin_writing(struct store *store, char *notice, size_t notice_size, struct error *err)
{
    *notice = '\0';
    if (!store_settle_path(&store->path, err))
        return false;
    bool emptied = is_emptied(store->path);
    if (!open_writing(store, notice, notice_size, err))
        return false;
    if (emptied)
        snprintf(notice, notice_size,
                 "%s was empty (0 bytes): what runs it may have held are lost, and "
                 "a new one was begun",
                 store->path);
    /* What runs are about may be private. */
    chmod(store->path, 0600);
    return true;
}

bool store_open(const char *path, struct store **out, char *notice, size_t notice_size,
                struct error *err)
{
    return store_open_showing(path, NULL, out, notice, notice_size, err);
}

bool store_open_showing(const char *path, const struct store_progress *progress, struct store **out,
                        char *notice, size_t notice_size, struct error *err)
{
    struct store *store = store_new(path, err);
    *notice = '\0';
    if (!store)
        return false;
    store->progress = progress;
    if (!store_begin_writing(store, notice, notice_size, err)) {
        store_close(store);
        return false;
    }
    store->progress = NULL;
    *out = store;
    return true;
}

bool store_open_for_reading(struct store *store, struct error *err)
{
    if (!store_open_database(store, SQLITE_OPEN_READWRITE, err)) {
        store_close_database(store);
        if (!store_open_database(store, SQLITE_OPEN_READONLY, err))
            return false;
    }
    /* The log may be that of another file, which was at this path when its engine opened it: only
     * who writes moves it into the file. */
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return true;
}

/* What a reader needs to know of the file: its version, 0 for one that holds nothing yet. */
static bool open_for_reading(const char *path, struct store **out, int *version, struct error *err)
{
    struct store *store = store_new(path, err);
    if (!store)
        return false;
    bool ok = store_open_for_reading(store, err);
    *version = 0;
    enum store_condition condition = ok ? store_identify(store, version, err) : STORE_UNKNOWN;
    if (condition == STORE_DAMAGED)
        ok = error_set(err, ERROR_FAILED, "%s: is damaged or no run store; " STORE_ADVICE, path);
    else if (condition == STORE_UNKNOWN)
        ok = false;
    else if (*version > STORE_VERSION)
        ok = newer(store, *version, err);
    else if (*version == 0)
        ok = error_set(err, ERROR_ABSENT, "%s: holds no runs yet", path);
    if (ok)
        *out = store;
    else
        store_close(store);
    return ok;
}

bool store_open_as_is(const char *path, struct store **out, int *version, struct error *err)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? error_set(err, ERROR_ABSENT, "%s: there is no run store yet", path)
                   : error_errno(err, "%s: cannot be read", path);
    /* A moment after an engine has made it, there is nothing in it either. */
    if (info.st_size == 0 && !store_is_locked(path))
        return error_set(err, ERROR_FAILED,
                         "%s: is empty (0 bytes): put a backup in its place, or remove it", path);
    return open_for_reading(path, out, version, err);
}

bool store_open_reading(const char *path, struct store **out, struct error *err)
{
    struct store *store;
    int version;
    if (!store_open_as_is(path, &store, &version, err))
        return false;
    if (version < STORE_VERSION) {
        struct error ignored = ERROR_INIT;
        store_close(store);
        /* If that fails, it may be because an engine has just done it. */
        bool done = store_update_now(path, NULL, err);
        if (!open_for_reading(path, &store, &version, done ? err : &ignored))
            return false;
        if (version < STORE_VERSION) {
            store_close(store);
            return false;
        }
        *err = (struct error)ERROR_INIT;
    }
    *out = store;
    return true;
}

void store_close(struct store *store)
{
    if (!store)
        return;
    if (store->lock_fd >= 0 && store->db)
        store_finish_writing(store);
    store_close_database(store);
    if (store->lock_fd >= 0)
        close(store->lock_fd);
    free(store->path);
    free(store);
}
