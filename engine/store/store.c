/* SPDX-License-Identifier: MIT */
#include "engine/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "engine/store/store_file.h"

/* How long to wait for a reader or writer in the middle of something. */
#define BUSY_MS 5000

char *store_default_path(struct error *err)
{
    char *home = paths_data_home(err);
    char *path = home ? path_join(home, "runs.db") : NULL;
    if (home && !path)
        error_memory(err, "path of the run store");
    free(home);
    return path;
}

bool store_error(struct store *store, const char *what, struct error *err)
{
    int code = store->db ? sqlite3_extended_errcode(store->db) : SQLITE_NOMEM;
    const char *advice = (code & 0xff) == SQLITE_FULL       ? ": free some space there"
                         : (code & 0xff) == SQLITE_READONLY ? ": make it writable"
                         : (code & 0xff) == SQLITE_BUSY     ? ": another program keeps it locked"
                         : (code & 0xff) == SQLITE_CORRUPT
                             ? ": it is damaged; an engine that starts sets it aside"
                             : "";
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
static bool pragma(struct store *store, const char *sql, int *value, struct error *err)
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

static bool open_database(struct store *store, int flags, struct error *err)
{
    if (sqlite3_open_v2(store->path, &store->db, flags, NULL) != SQLITE_OK)
        return store_error(store, "be opened", err);
    sqlite3_extended_result_codes(store->db, 1);
    sqlite3_busy_timeout(store->db, BUSY_MS);
    return true;
}

static void close_database(struct store *store)
{
    sqlite3_close(store->db);
    store->db = NULL;
}

enum condition { SOUND, DAMAGED, UNKNOWN };

/* After a failure. For want of memory, or when the disk fails, the file may be whole. */
static enum condition condition_of_failure(struct store *store)
{
    int code = sqlite3_errcode(store->db) & 0xff;
    return code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? DAMAGED : UNKNOWN;
}

/* A file that is neither empty nor a store of ours counts as damaged. UNKNOWN: *err says why. */
static enum condition identify(struct store *store, int *version, struct error *err)
{
    int id;
    if (!pragma(store, "PRAGMA application_id", &id, err) ||
        !pragma(store, "PRAGMA user_version", version, err))
        return condition_of_failure(store);
    return *version < 0 || (*version > 0 && id != 1146114644) ? DAMAGED : SOUND;
}

/* Is the file whole, and a store of ours (or empty)? UNKNOWN: *err says why. */
static enum condition examine(struct store *store, int *version, struct error *err)
{
    struct query query;
    enum condition condition = identify(store, version, err);
    if (condition != SOUND)
        return condition;
    query_begin(&query, store, "PRAGMA quick_check(1)");
    /* "": there was no memory for the text. */
    const char *text = query_row(&query) ? query_text(&query, 0) : "";
    if (strcmp(text, "ok") != 0)
        condition = *text ? DAMAGED : UNKNOWN;
    if (!query_end(&query, "be checked", err))
        return condition_of_failure(store);
    if (condition == UNKNOWN)
        error_memory(err, store->path);
    return condition;
}

/* Can all of a file be read? One that is not there can. */
static bool is_readable(const struct store *store, const char *suffix, struct error *err)
{
    char buffer[16384], *path = text_format("%s%s", store->path, suffix);
    if (!path)
        return error_memory(err, store->path);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool ok = fd >= 0 || errno == ENOENT || error_errno(err, "%s: cannot be read", path);
    ssize_t got = fd >= 0 ? 1 : 0;
    while (ok && got != 0) {
        got = read(fd, buffer, sizeof buffer);
        ok = got >= 0 || errno == EINTR || error_errno(err, "%s: cannot be read", path);
    }
    if (fd >= 0)
        close(fd);
    free(path);
    return ok;
}

/*
 * To quick_check a page that a failing disk does not give away is damage like any other, but the
 * next disk or the next try may give it. So damage is what was found twice in a file that can be
 * read.
 */
static enum condition examine_twice(struct store *store, int flags, struct error *err)
{
    int version;
    enum condition condition = examine(store, &version, err);
    if (condition != DAMAGED)
        return condition;
    close_database(store);
    if (!is_readable(store, "", err) || !is_readable(store, "-wal", err) ||
        !open_database(store, flags, err))
        return UNKNOWN;
    return examine(store, &version, err);
}

/* Move the file and what belongs to it out of the way. */
static bool set_aside(struct store *store, char *notice, size_t notice_size, struct error *err)
{
    static const char *const parts[] = {"", "-wal", "-shm"};
    char date[32] = "";
    time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local))
        strftime(date, sizeof date, "%Y%m%d-%H%M%S", &local);
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof parts / sizeof *parts; i++) {
        char *to = text_format("%s.damaged-%s-%d%s", store->path, date, (int)getpid(), parts[i]);
        char *from = text_format("%s%s", store->path, parts[i]);
        if (!to || !from)
            ok = error_memory(err, store->path);
        else if (rename(from, to) != 0 && errno != ENOENT)
            ok = error_errno(err, "%s: is damaged and cannot be set aside", store->path);
        if (ok && i == 0)
            snprintf(notice, notice_size,
                     "%s was damaged or no run store: it was set aside as %s, and a new one begun",
                     store->path, to);
        free(to);
        free(from);
    }
    return ok;
}

static bool start_writing(struct store *store, struct error *err)
{
    int version;
    if (!pragma(store, "PRAGMA user_version", &version, err))
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

/* How often, a fiftieth of a second apart, a lock is tried. */
#define LOCK_TRIES 10

/* One writer at a time: a lock that ends with the process, beside the file. */
static bool take_lock(struct store *store, struct error *err)
{
    char holder[32] = "";
    char *path = text_format("%s.lock", store->path);
    if (!path)
        return error_memory(err, store->path);
    store->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool ok = store->lock_fd >= 0 || error_errno(err, "%s: cannot be made", path);
    free(path);
    if (!ok)
        return false;
    /* A reader that looks for a writer has it for a moment, too. */
    bool locked = flock(store->lock_fd, LOCK_EX | LOCK_NB) == 0;
    for (int i = 0; i < LOCK_TRIES && !locked && errno == EWOULDBLOCK; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 20000000L}, NULL);
        locked = flock(store->lock_fd, LOCK_EX | LOCK_NB) == 0;
    }
    if (!locked) {
        ssize_t got = pread(store->lock_fd, holder, sizeof holder - 1, 0);
        long pid = got > 0 ? strtol(holder, NULL, 10) : 0;
        return error_set(err, ERROR_FAILED, "%s: another engine keeps its runs there (pid %ld)",
                         store->path, pid);
    }
    /* Only for the message above: a full disk is no reason to fail here. */
    int length = snprintf(holder, sizeof holder, "%ld\n", (long)getpid());
    if (ftruncate(store->lock_fd, 0) != 0 ||
        pwrite(store->lock_fd, holder, (size_t)length, 0) != length)
        errno = 0;
    return true;
}

bool store_has_writer(const struct store *store)
{
    char *path = text_format("%s.lock", store->path);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    bool has = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    free(path);
    return has;
}

static bool make_folder(const char *path, struct error *err)
{
    char *copy = strdup(path);
    bool ok = copy ? make_directories(dirname(copy), 0700, err) : error_memory(err, path);
    free(copy);
    return ok;
}

static struct store *store_new(const char *path, struct error *err)
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
    if (!take_lock(store, err) || !open_database(store, flags, err))
        return false;
    enum condition condition = examine_twice(store, flags, err);
    if (condition == UNKNOWN)
        return false;
    if (condition == DAMAGED) {
        close_database(store);
        if (!set_aside(store, notice, notice_size, err) || !open_database(store, flags, err))
            return false;
    }
    return start_writing(store, err);
}

bool store_open(const char *path, struct store **out, char *notice, size_t notice_size,
                struct error *err)
{
    struct store *store = store_new(path, err);
    *notice = '\0';
    if (!store)
        return false;
    if (!make_folder(path, err) || !open_writing(store, notice, notice_size, err)) {
        store_close(store);
        return false;
    }
    /* What runs are about may be private. */
    chmod(path, 0600);
    *out = store;
    return true;
}

bool store_open_reading(const char *path, struct store **out, struct error *err)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? error_set(err, ERROR_ABSENT, "%s: there is no run store yet", path)
                   : error_errno(err, "%s: cannot be read", path);
    struct store *store = store_new(path, err);
    if (!store)
        return false;
    bool ok = open_database(store, SQLITE_OPEN_READWRITE, err) ||
              (sqlite3_close(store->db), store->db = NULL,
               open_database(store, SQLITE_OPEN_READONLY, err));
    int version = 0;
    enum condition condition = ok ? identify(store, &version, err) : UNKNOWN;
    if (condition == DAMAGED)
        ok = error_set(err, ERROR_FAILED,
                       "%s: is damaged or no run store: an engine that starts sets it aside", path);
    else if (condition == UNKNOWN)
        ok = false;
    else if (version > STORE_VERSION)
        ok = newer(store, version, err);
    else if (version == 0)
        ok = error_set(err, ERROR_ABSENT, "%s: holds no runs yet", path);
    if (!ok) {
        store_close(store);
        return false;
    }
    *out = store;
    return true;
}

void store_close(struct store *store)
{
    if (!store)
        return;
    close_database(store);
    if (store->lock_fd >= 0)
        close(store->lock_fd);
    free(store->path);
    free(store);
}
