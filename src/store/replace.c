/* SPDX-License-Identifier: MIT */
#include "store/replace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "store/database.h"
#include "store/lock.h"
#include "store/writing.h"

/* Of the file at PATH and SUFFIX; all 0 where there is none or it cannot be examined. */
static struct file_identity identity_of(const char *path, const char *suffix)
{
    struct stat info;
    char *name = text_format("%s%s", path, suffix);
    struct file_identity found = {0, 0};
    if (name && lstat(name, &info) == 0)
        found = (struct file_identity){info.st_dev, info.st_ino};
    free(name);
    return found;
}

static bool is_same(struct file_identity a, struct file_identity b)
{
    return a.device == b.device && a.inode == b.inode;
}

void store_identity_take(const char *path, struct store_identity *identity)
{
    *identity = (struct store_identity){identity_of(path, ""), identity_of(path, "-wal"),
                                        identity_of(path, "-shm")};
}

bool store_identity_left(const char *path, const struct store_identity *identity)
{
    struct stat info;
    if (lstat(path, &info) != 0)
        return errno == ENOENT || errno == ENOTDIR;
    return !is_same(identity->database, (struct file_identity){info.st_dev, info.st_ino});
}

bool store_has_left_path(const struct store *store)
{
    return store_identity_left(store->path, &store->identity);
}

bool store_is_replaced(const struct store *store)
{
    int moved = 0;
    if (store_has_left_path(store))
        return true;
    sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    return moved != 0;
}

static bool holds_lock_there(const struct store *store)
{
    struct stat held;
    return store->lock_fd >= 0 && fstat(store->lock_fd, &held) == 0 &&
           is_same(identity_of(store->path, ".lock"),
                   (struct file_identity){held.st_dev, held.st_ino});
}

bool store_renew_lock(struct store *store, bool *renewed, struct error *err)
{
    int fd;
    if (holds_lock_there(store))
        return true;
    if (!store_lock(store->path, &fd, err))
        return false;
    if (store->lock_fd >= 0)
        close(store->lock_fd);
    store->lock_fd = fd;
    *renewed = true;
    return true;
}

/* Take PATH and SUFFIX away from there if it is the file that the store has open. */
static bool take_away(const struct store *store, const char *suffix, struct file_identity own,
                      bool emptied, struct error *err)
{
    if (own.inode == 0 || !is_same(own, identity_of(store->path, suffix)))
        return true;
    char *from = text_format("%s%s", store->path, suffix);
    char *to = text_format("%s.replaced-%d%s", store->path, (int)getpid(), suffix);
    bool ok = from && to ? (emptied ? unlink(from) : rename(from, to)) == 0 ||
                               error_errno(err, "%s: cannot be taken away", from)
                         : error_memory(err, store->path);
    free(from);
    free(to);
    return ok;
}

/* All that was committed, into the file itself. */
static bool empty_log(struct store *store)
{
    return sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL) ==
           SQLITE_OK;
}

static bool leave_place(struct store *store, struct error *err)
{
    bool emptied = empty_log(store);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return take_away(store, "-wal", store->identity.log, emptied, err) &&
           take_away(store, "-shm", store->identity.index, true, err);
}

/* Locks end with the last descriptor: it goes from one store to the other. */
static void hand_lock(struct store *from, struct store *to)
{
    if (from->lock_fd < 0)
        return;
    if (to->lock_fd >= 0)
        close(to->lock_fd);
    to->lock_fd = from->lock_fd;
    from->lock_fd = -1;
}

bool store_open_again(struct store *old, struct store **out, char *notice, size_t notice_size,
                      struct error *err)
{
    struct store *store = store_new(old->path, err);
    *notice = '\0';
    if (!store)
        return false;
    bool ok = leave_place(old, err);
    if (ok && holds_lock_there(old))
        hand_lock(old, store);
    if (ok && store_begin_writing(store, notice, notice_size, err)) {
        *out = store;
        return true;
    }
    hand_lock(store, old);
    store_close(store);
    return false;
}

void store_finish_writing(struct store *store)
{
    if (store_is_replaced(store)) {
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        return;
    }
    /* A reader that never ends is no reason to wait. */
    sqlite3_busy_timeout(store->db, 500);
    empty_log(store);
}
