/* SPDX-License-Identifier: MIT */
#include "store/update.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "store/lock.h"
#include "store/store_file.h"

/* Runs that are changed between two reports. */
#define RANGE_RUNS 500
/* Parts of a step in percent, by the time that they take: changing runs, then making indexes. */
#define FILL_PERCENT 85

/*
 * Does the file's header have an older version? It is read without the library, which takes longer,
 * at each start of a command. What is in the write-ahead log alone counts as older.
 */
static bool looks_older(const char *path)
{
    static const char magic[16] = "SQLite format 3";
    unsigned char header[72];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    ssize_t got = pread(fd, header, sizeof header, 0);
    close(fd);
    const unsigned char *at = header + 60; /* user_version, big-endian */
    return got == (ssize_t)sizeof header && memcmp(header, magic, sizeof magic) == 0 &&
           memcmp(header + 68, "DPRT", 4) == 0 &&
           ((long)at[0] << 24 | (long)at[1] << 16 | (long)at[2] << 8 | at[3]) < STORE_VERSION;
}

bool store_update(const char *path, const struct store_progress *progress, struct error *err)
{
    return !looks_older(path) || store_update_now(path, progress, err);
}

bool store_update_now(const char *path, const struct store_progress *progress, struct error *err)
{
    char notice[300];
    struct store *store = store_new(path, err);
    if (!store)
        return false;
    store->progress = progress;
    /* Only an engine sets a store aside: its log says so. */
    store->keeps_damaged = true;
    bool ok = store_begin_writing(store, notice, sizeof notice, err) ||
              error_prefix(err, "the run store is of an older version and cannot be brought up to "
                                "date");
    store_close(store);
    return ok;
}

static void report(struct store *store, int percent)
{
    if (percent == store->percent)
        return;
    store->percent = percent;
    store_lock_sign(store->lock_fd, percent);
    if (store->progress)
        store->progress->show(store->progress->context, percent);
}

/* Change all runs, some at a time: `sql` has two parameters, the numbers to begin and end before.
 */
static bool fill(struct store *store, const char *sql, int base, int share, struct error *err)
{
    struct query query;
    int64_t last = 0;
    query_begin(&query, store, "SELECT max(number) FROM runs");
    if (query_row(&query))
        last = sqlite3_column_int64(query.statement, 0);
    bool ok = query_end(&query, "be read", err);
    for (int64_t from = 0; ok && from <= last; from += RANGE_RUNS) {
        query_begin(&query, store, sql);
        query_bind_long(&query, from);
        query_bind_long(&query, from + RANGE_RUNS);
        ok = query_end(&query, "be brought up to date", err);
        if (last > RANGE_RUNS)
            report(store, base + (int)(share * FILL_PERCENT / 100 * from / last));
    }
    return ok;
}

static bool take_step(struct store *store, int version, int base, int share, struct error *err)
{
    const struct schema_step *step = store_schema_step(version);
    return store_exec(store, step->tables, "make its tables", err) &&
           (!step->runs || fill(store, step->runs, base, share, err)) &&
           (!step->indexes || store_exec(store, step->indexes, "make its indexes", err));
}

bool store_migrate(struct store *store, int version, struct error *err)
{
    const int first = version;
    if (version >= STORE_VERSION)
        return true;
    const int share = 100 / (STORE_VERSION - first);
    bool older = version > 0, ok = true;
    store->percent = -1;
    if (older)
        store_lock_sign(store->lock_fd, 0);
    for (; ok && version < STORE_VERSION; version++) {
        if (!store_begin(store, err))
            break;
        ok = take_step(store, version, (version - first) * share, share, err) &&
             store_commit(store, err);
        if (!ok)
            store_rollback(store);
    }
    ok = ok && version == STORE_VERSION;
    if (ok && store->percent >= 0)
        report(store, 100);
    store_lock_sign(store->lock_fd, -1);
    return ok;
}
