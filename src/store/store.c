/* SPDX-License-Identifier: MIT */
#include "store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/database.h"
#include "store/examine.h"
#include "store/lock.h"
#include "store/replace.h"
#include "store/update.h"
#include "store/writing.h"

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

const char *store_path(const struct store *store)
{
    return store->path;
}

bool store_has_writer(const struct store *store)
{
    return store_is_locked(store->path);
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
        ok = store_refuse_newer(store, *version, err);
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
    if (S_ISREG(info.st_mode) && info.st_size == 0 && !store_is_locked(path))
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
