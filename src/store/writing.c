/* SPDX-License-Identifier: MIT */
#include "store/writing.h"

#include <stdio.h>
#include <sys/stat.h>

#include "store/database.h"
#include "store/doubt.h"
#include "store/examine.h"
#include "store/lock.h"
#include "store/place.h"
#include "store/replace.h"
#include "store/update.h"

static bool start_writing(struct store *store, struct error *err)
{
    int version;
    if (!store_pragma(store, "PRAGMA user_version", &version, err))
        return false;
    if (version > STORE_VERSION)
        return store_refuse_newer(store, version, err);
    return store_exec(store,
                      "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                      "PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = 400;"
                      "PRAGMA journal_size_limit = 4194304",
                      "be set up", err) &&
           store_migrate(store, version, err);
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
