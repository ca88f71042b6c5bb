/* SPDX-License-Identifier: MIT */
#include "store/write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spec/device_list.h"
#include "store/database.h"
#include "store/query.h"

bool store_last_number(struct store *store, long *number, struct error *err)
{
    struct query query;
    *number = 0;
    query_begin(&query, store, "SELECT seq FROM sqlite_sequence WHERE name = 'runs'");
    if (query_row(&query))
        *number = (long)sqlite3_column_int64(query.statement, 0);
    return query_end(&query, "be read", err);
}

bool store_sync(struct store *store, struct error *err)
{
    sqlite3_file *log = NULL;
    /* What is not in the database yet is in the write-ahead log, and SQLite syncs before it moves
     * that over. */
    int status = sqlite3_file_control(store->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (status == SQLITE_OK && log && log->pMethods)
        status = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
    return status == SQLITE_OK || error_set(err, ERROR_FAILED, "%s-wal: cannot be synced: %s",
                                            store->path, sqlite3_errstr(status));
}

static void bind_member(struct query *query, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (json_is_string(value))
        query_bind_text(query, json_string_value(value));
    else
        query_bind_double(query, json_is_number(value) ? json_number_value(value) : NAN);
}

/* ["cpu:0","cpu:1"] as `--devices` has it: "cpu:0-1". A new string, NULL: none, or no memory. */
static char *devices_text(const json_t *object)
{
    const json_t *list = json_object_get(object, "devices");
    struct device_list devices = {.choice = DEVICES_LISTED};
    struct error ignored = ERROR_INIT;
    for (size_t i = 0; i < json_array_size(list) && devices.count < SPEC_MAX_DEVICES; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        struct device_list one;
        if (name && device_list_parse(name, &one, &ignored) && one.count == 1)
            devices.id[devices.count++] = one.id[0];
    }
    return devices.count ? device_list_text(&devices) : NULL;
}

/* The best accuracy of a run is that on its validation rows, where it has some. */
static const char *best_of(const json_t *object, const char *column)
{
    bool best = strcmp(column, "best_test_acc") == 0;
    return best && json_is_number(json_object_get(object, "best_val_acc")) ? "best_val_acc"
                                                                           : column;
}

bool store_put_run(struct store *store, const json_t *object, const json_t *spec,
                   const json_t *environment, struct error *err)
{
    static const char *const columns[] = {
        "batch",    "lr",          "note",          "submitted_at", "started_at",   "ended_at",
        "test_acc", "s_per_epoch", "samples_per_s", "epochs_done",  "best_test_acc"};
    struct query query;
    char *devices = devices_text(object);
    query_begin_kept(&query, store, STATEMENT_RUN,
                     "INSERT INTO runs (number, status, model, data, devices, batch, lr, note,"
                     " submitted_at, started_at, ended_at, test_acc, s_per_epoch, samples_per_s,"
                     " epochs_done, best_test_acc, device_count, object, spec, environment)"
                     " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                     " ON CONFLICT (number) DO UPDATE SET status = excluded.status,"
                     " model = excluded.model, data = excluded.data, devices = excluded.devices,"
                     " batch = excluded.batch, lr = excluded.lr, note = excluded.note,"
                     " submitted_at = excluded.submitted_at, started_at = excluded.started_at,"
                     " ended_at = excluded.ended_at, test_acc = excluded.test_acc,"
                     " s_per_epoch = excluded.s_per_epoch, samples_per_s = excluded.samples_per_s,"
                     " epochs_done = excluded.epochs_done, best_test_acc = excluded.best_test_acc,"
                     " device_count = excluded.device_count,"
                     " object = excluded.object, spec = coalesce(excluded.spec, spec),"
                     " environment = coalesce(excluded.environment, environment)");
    query_bind_long(&query, json_integer_value(json_object_get(object, "run")));
    query_bind_text(&query, json_string_value(json_object_get(object, "status")));
    query_bind_text(&query, json_string_value(json_object_get(object, "model")));
    query_bind_text(&query, json_string_value(json_object_get(object, "data")));
    query_bind_text(&query, devices);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        bind_member(&query, object, best_of(object, columns[i]));
    query_bind_long(&query, (int64_t)json_array_size(json_object_get(object, "devices")));
    query_bind_json(&query, object);
    query_bind_json(&query, spec);
    query_bind_json(&query, environment);
    free(devices);
    return query_end(&query, "keep a run", err);
}

/* What comes late for a run that was deleted is left out. */
#define OF_RUN " WHERE EXISTS (SELECT 1 FROM runs WHERE number = ?1)"

bool store_add_event(struct store *store, long run, const char *name, const char *text,
                     struct error *err)
{
    struct query query;
    query_begin_kept(
        &query, store, STATEMENT_EVENT,
        "INSERT INTO events (run, number, name, event) SELECT ?1,"
        " (SELECT coalesce(max(number) + 1, 0) FROM events WHERE run = ?1), ?2, ?3" OF_RUN);
    query_bind_long(&query, run);
    query_bind_text(&query, name);
    query_bind_text(&query, text);
    return query_end(&query, "keep an event", err);
}

bool store_add_point(struct store *store, long run, const json_t *point, struct error *err)
{
    static const char *const columns[] = {"epoch", "train_loss", "train_acc", "samples_per_s",
                                          "lr"};
    struct query query;
    query_begin_kept(
        &query, store, STATEMENT_POINT,
        "INSERT OR REPLACE INTO points (run, step, steps, rows, epoch, train_loss, train_acc,"
        " samples_per_s, lr) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9" OF_RUN);
    query_bind_long(&query, run);
    query_bind_long(&query, json_integer_value(json_object_get(point, "step")));
    query_bind_long(&query, json_integer_value(json_object_get(point, "steps")));
    query_bind_long(&query, json_integer_value(json_object_get(point, "rows")));
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        bind_member(&query, point, columns[i]);
    return query_end(&query, "keep a point", err);
}

/* `sql` has one parameter, the run. */
static bool of_run(struct store *store, const char *sql, long run, const char *what,
                   struct error *err)
{
    struct query query;
    query_begin(&query, store, sql);
    query_bind_long(&query, run);
    return query_end(&query, what, err);
}

bool store_part_begin(struct store *store, struct error *err)
{
    return store_exec(store, "SAVEPOINT part", "be written", err);
}

bool store_part_end(struct store *store, bool ok, struct error *err)
{
    if (ok && store_exec(store, "RELEASE part", "be written", err))
        return true;
    if (!sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK TO part; RELEASE part", NULL, NULL, NULL);
    return false;
}

bool store_rewind(struct store *store, long run, long steps, struct error *err)
{
    static const char *const deletions[] = {
        "DELETE FROM events WHERE run = ? AND"
        " (name = 'end' OR iif(json_valid(event), ifnull(json_extract(event, '$.step'), 0), 0)"
        " > ?)",
        "DELETE FROM points WHERE run = ? AND step > ?"};
    bool ok = store_part_begin(store, err);
    if (!ok)
        return false;
    for (size_t i = 0; ok && i < sizeof deletions / sizeof *deletions; i++) {
        struct query query;
        query_begin(&query, store, deletions[i]);
        query_bind_long(&query, run);
        query_bind_long(&query, steps);
        ok = query_end(&query, "rewind a run", err);
    }
    return store_part_end(store, ok, err);
}

bool store_set_points(struct store *store, long run, const json_t *list, struct error *err)
{
    if (!store_part_begin(store, err))
        return false;
    bool ok = of_run(store, "DELETE FROM points WHERE run = ?", run, "replace points", err);
    for (size_t i = 0; ok && i < json_array_size(list); i++)
        ok = store_add_point(store, run, json_array_get(list, i), err);
    return store_part_end(store, ok, err);
}

static bool add_tag(struct store *store, long run, const char *tag, struct error *err)
{
    struct query query;
    query_begin(&query, store, "INSERT OR IGNORE INTO tags (run, tag) SELECT ?1, ?2" OF_RUN);
    query_bind_long(&query, run);
    query_bind_text(&query, tag);
    return query_end(&query, "keep a tag", err);
}

bool store_set_tags(struct store *store, long run, const json_t *tags, struct error *err)
{
    if (!store_part_begin(store, err))
        return false;
    bool ok = of_run(store, "DELETE FROM tags WHERE run = ?", run, "replace tags", err);
    for (size_t i = 0; ok && i < json_array_size(tags); i++)
        ok = add_tag(store, run, json_string_value(json_array_get(tags, i)), err);
    return store_part_end(store, ok, err);
}

bool store_delete_run(struct store *store, long run, struct error *err)
{
    if (!of_run(store, "DELETE FROM runs WHERE number = ?", run, "delete a run", err))
        return false;
    return sqlite3_changes(store->db) > 0 ||
           error_set(err, ERROR_ABSENT, "there is no run %ld", run);
}

#define UNFINISHED " WHERE status IN ('queued', 'running', 'paused')"

static bool interrupt(struct store *store, const char *reason, json_t *runs, struct error *err)
{
    struct query query;
    query_begin(&query, store, "SELECT number FROM runs" UNFINISHED " ORDER BY number");
    while (query_row(&query))
        json_array_append_new(runs, json_integer(sqlite3_column_int64(query.statement, 0)));
    if (!query_end(&query, "be read", err))
        return false;
    query_begin(&query, store,
                "UPDATE runs SET status = 'interrupted', object = iif(json_valid(object),"
                " json_set(object, '$.status', 'interrupted', '$.error',"
                " iif(status = 'queued' AND started_at IS NULL, ?, ?)), object)" UNFINISHED);
    query_bind_text(&query, STORE_LOST_WAITING);
    query_bind_text(&query, reason);
    return query_end(&query, "mark interrupted runs", err);
}

bool store_interrupt(struct store *store, const char *reason, json_t **runs, struct error *err)
{
    json_t *list = json_array();
    if (!list)
        return error_memory(err, "interrupted runs");
    bool ok = store_part_begin(store, err);
    if (ok)
        ok = store_part_end(store, interrupt(store, reason, list, err), err);
    if (ok && runs)
        *runs = json_incref(list);
    json_decref(list);
    return ok;
}
