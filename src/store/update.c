/* SPDX-License-Identifier: MIT */
#include "store/update.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "store/database.h"
#include "store/lock.h"
#include "store/query.h"
#include "store/writing.h"

/* What brings a file of `version`, below STORE_VERSION, to the next one, as SQL. */
struct schema_step {
    const char *tables;  /* statements, first */
    const char *runs;    /* NULL, or one that changes runs, from number ? on and before number ? */
    const char *indexes; /* statements, last; NULL: none */
};

#define DIGITS(NUMBER) #NUMBER
#define DECIMAL(MACRO) DIGITS(MACRO)
#define MARK_AS_OURS   "PRAGMA application_id = " DECIMAL(STORE_APPLICATION_ID) ";"

/*
 * One step per version: step i brings a file of version i to version i + 1. Steps are never
 * changed, only added.
 */
static const struct schema_step steps[STORE_VERSION] = {
    {.tables = "CREATE TABLE runs ("
               "  number INTEGER PRIMARY KEY AUTOINCREMENT," /* never given twice */
               "  status TEXT NOT NULL,"
               "  model TEXT, data TEXT, devices TEXT, batch INTEGER, lr REAL, note TEXT,"
               "  submitted_at REAL, started_at REAL, ended_at REAL,"
               "  test_acc REAL, s_per_epoch REAL, samples_per_s REAL,"
               "  object TEXT NOT NULL," /* the run object */
               "  spec TEXT, environment TEXT);"
               "CREATE INDEX runs_by_status ON runs (status);"
               "CREATE TABLE events ("
               "  run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,"
               "  number INTEGER NOT NULL," /* counts within the run, from 0 */
               "  name TEXT NOT NULL, event TEXT NOT NULL,"
               "  PRIMARY KEY (run, number)) WITHOUT ROWID;"
               "CREATE TABLE points ("
               "  run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,"
               "  step INTEGER NOT NULL, steps INTEGER NOT NULL, rows INTEGER NOT NULL, epoch REAL,"
               "  train_loss REAL, train_acc REAL, samples_per_s REAL, lr REAL,"
               "  PRIMARY KEY (run, step)) WITHOUT ROWID;"
               "CREATE TABLE tags ("
               "  run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,"
               "  tag TEXT NOT NULL,"
               "  PRIMARY KEY (run, tag)) WITHOUT ROWID;"
               "CREATE INDEX tags_by_tag ON tags (tag);" MARK_AS_OURS "PRAGMA user_version = 1;"},

    /*
     * All that lists are filtered and sorted by, in one index: reading it through takes some 150
     * bytes a run, the table some 2000. (Generated columns would do, but an index of them does not
     * count as covering.)
     */
    {.tables = "ALTER TABLE runs ADD COLUMN epochs_done INTEGER;"
               "ALTER TABLE runs ADD COLUMN best_test_acc REAL;"
               "ALTER TABLE runs ADD COLUMN device_count INTEGER;",
     .runs = "UPDATE runs SET epochs_done = json_extract(object, '$.epochs_done'),"
             "  best_test_acc = json_extract(object, '$.best_test_acc'),"
             "  device_count = json_array_length(object, '$.devices')"
             "  WHERE number >= ? AND number < ? AND json_valid(object)",
     .indexes = "CREATE INDEX runs_listed ON runs (submitted_at, status, model, data, devices,"
                "  batch, lr, note, epochs_done, test_acc, best_test_acc, s_per_epoch,"
                "  samples_per_s, device_count);"
                "PRAGMA user_version = 2;"},
};

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
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
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
    const struct schema_step *step = &steps[version];
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
