/* SPDX-License-Identifier: MIT */
#include "store/rescue/salvage.h"

#include <string.h>

#include "base/json.h"
#include "store/database.h"
#include "store/query.h"
#include "store/rescue/copy.h"
#include "store/write.h"

#define OBJECT_COLUMNS 4
#define HIGHEST_NUMBER 1000000000L
#define REBUILT        "its record was damaged: this is what could be saved of it"

/*
 * A table's rows are in the table if its root was found, else in lost_and_found, with the columns
 * in the order of the record. So each statement has a second form for these. A prepared statement
 * that fails is a table that is not there.
 */
static bool has_row(struct store *store, long run)
{
    double ignored;
    struct error err = ERROR_INIT;
    return store_submitted_at(store, run, &ignored, &err);
}

/* What a column may be of JSON; NULL: it is null, or damaged. */
static json_t *column_json(sqlite3_stmt *row, int column)
{
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER:
        return json_integer(sqlite3_column_int64(row, column));
    case SQLITE_FLOAT:
        return json_finite(sqlite3_column_double(row, column));
    case SQLITE_TEXT:
        return json_any_text((const char *)sqlite3_column_text(row, column));
    default:
        return NULL;
    }
}

/* A run as its columns have it. NULL: there is no memory. */
static json_t *object_of_columns(struct query *row, long run)
{
    static const char *const keys[] = {"status", "model",        "data",       "batch",   "lr",
                                       "note",   "submitted_at", "started_at", "ended_at"};
    json_t *object =
        json_pack("{s:I, s:[], s:i, s:i, s:[], s:[], s:s}", "run", (json_int_t)run, "devices",
                  "epochs", 0, "epochs_done", 0, "tags", "warnings", "error", REBUILT);
    for (size_t i = 0; object && i < sizeof keys / sizeof *keys; i++) {
        json_t *value = column_json(row->statement, OBJECT_COLUMNS + (int)i);
        if (value)
            json_object_set_new(object, keys[i], value);
    }
    return object;
}

/* As the row has it, if that is whole. */
static json_t *object_of(struct query *row, long run)
{
    json_t *object = query_json(row, 1);
    if (json_is_object(object) && json_integer_value(json_object_get(object, "run")) == run)
        return object;
    json_decref(object);
    return object_of_columns(row, run);
}

static bool is_rebuilt(const json_t *object)
{
    const char *error = json_string_value(json_object_get(object, "error"));
    return error && strcmp(error, REBUILT) == 0;
}

/* Of the settings that are lost those that the object says, for engines to go by. */
static json_t *spec_of(const json_t *object)
{
    static const char *const keys[] = {"model", "data", "batch", "lr", "seed"};
    json_t *spec = json_object();
    for (size_t i = 0; spec && i < sizeof keys / sizeof *keys; i++) {
        json_t *value = json_object_get(object, keys[i]);
        if (value && !json_is_null(value))
            json_object_set(spec, keys[i], value);
    }
    return spec;
}

static bool put_object(struct store *to, const json_t *object, json_t *spec,
                       const json_t *environment, struct store_salvaged *saved, struct error *err)
{
    if (!object)
        return error_memory(err, "run");
    if (!json_is_string(json_object_get(object, "status")))
        return true;
    json_t *used = json_is_object(spec) ? json_incref(spec) : spec_of(object);
    bool ok = used ? store_put_run(to, object, used,
                                   json_is_object(environment) ? environment : NULL, err)
                   : error_memory(err, "settings");
    json_decref(used);
    if (!ok)
        return false;
    saved->runs++;
    saved->rebuilt += is_rebuilt(object);
    return true;
}

/* Columns: number, object, spec, environment, and from OBJECT_COLUMNS on those that a damaged
 * object is made of. */
static bool take_runs(struct store *from, struct store *to, const char *sql,
                      struct store_salvaged *saved, struct error *err)
{
    struct query row;
    bool ok = true;
    query_begin(&row, from, sql);
    while (ok && query_row(&row)) {
        long run = (long)sqlite3_column_int64(row.statement, 0);
        if (run <= 0 || has_row(to, run))
            continue;
        json_t *object = object_of(&row, run);
        json_t *spec = query_json(&row, 2), *environment = query_json(&row, 3);
        ok = put_object(to, object, spec, environment, saved, err);
        json_decref(object);
        json_decref(spec);
        json_decref(environment);
    }
    sqlite3_finalize(row.statement);
    return ok;
}

/* Rows of up to four columns, into an INSERT OR IGNORE; *count: those that are new. */
static bool take_rows(struct store *from, struct store *to, const char *select, const char *insert,
                      long *count, struct error *err)
{
    struct query row;
    bool ok = true;
    query_begin(&row, from, select);
    while (ok && query_row(&row)) {
        struct query put;
        query_begin(&put, to, insert);
        for (int i = 0; put.status == SQLITE_OK && i < sqlite3_column_count(row.statement); i++)
            put.status =
                sqlite3_bind_value(put.statement, i + 1, sqlite3_column_value(row.statement, i));
        ok = query_end(&put, "take over a run", err);
        *count += ok ? sqlite3_changes(to->db) : 0;
    }
    sqlite3_finalize(row.statement);
    return ok;
}

static bool take_all_runs(struct store *from, struct store *to, struct store_salvaged *saved,
                          struct error *err)
{
    static const char known[] =
        "SELECT number, object, spec, environment, status, model, data, batch, lr, note,"
        " submitted_at, started_at, ended_at FROM runs";
    static const char lost[] =
        "SELECT id, c14, c15, c16, c1, c2, c3, c5, c6, c7, c8, c9, c10 FROM lost_and_found"
        " WHERE id > 0 AND nfield >= 15 AND typeof(c1) = 'text' AND"
        " iif(json_valid(c14), json_type(c14, '$.run'), NULL) = 'integer'";
    return take_runs(from, to, known, saved, err) && take_runs(from, to, lost, saved, err);
}

/* Events of runs without a row wait in a separate table until that is rebuilt. */
static const char all_events[] =
    "CREATE TEMP TABLE saved (run INTEGER, number INTEGER, name TEXT, event TEXT,"
    " PRIMARY KEY (run, number)) WITHOUT ROWID";
static const char add_event[] = "INSERT OR IGNORE INTO saved VALUES (?, ?, ?, ?)";

static bool take_all_events(struct store *from, struct store *to, struct error *err)
{
    long count = 0;
    return store_exec(to, all_events, "be written", err) &&
           take_rows(from, to,
                     "SELECT run, number, name, event FROM events WHERE typeof(run) = 'integer' AND"
                     " typeof(number) = 'integer' AND typeof(name) = 'text' AND json_valid(event)",
                     add_event, &count, err) &&
           take_rows(from, to,
                     "SELECT c0, c1, c2, c3 FROM lost_and_found WHERE nfield = 4 AND"
                     " typeof(c0) = 'integer' AND typeof(c1) = 'integer' AND typeof(c2) = 'text'"
                     " AND iif(json_valid(c3), json_type(c3, '$.event'), NULL) = 'text'",
                     add_event, &count, err);
}

/* A run whose row is lost, from what it reported when it began and ended. */
static bool rebuild(struct store *to, struct store_salvaged *saved, struct error *err)
{
    struct query row;
    bool ok = true;
    query_begin(
        &row, to,
        "SELECT run, json_object('run', run, 'status', coalesce(json_extract(max(iif(name = 'end',"
        " event, NULL)), '$.status'), 'interrupted'),"
        " 'model', json_extract(max(iif(name = 'run', event, NULL)), '$.model'),"
        " 'data', json_extract(max(iif(name = 'run', event, NULL)), '$.data'),"
        " 'devices', json(coalesce(json_extract(max(iif(name = 'run', event, NULL)), '$.devices'),"
        " '[]')),"
        " 'batch', json_extract(max(iif(name = 'run', event, NULL)), '$.batch'),"
        " 'lr', json_extract(max(iif(name = 'run', event, NULL)), '$.lr'),"
        " 'epochs', coalesce(json_extract(max(iif(name = 'run', event, NULL)), '$.epochs'), 0),"
        " 'epochs_done', sum(name = 'epoch'),"
        " 'test_acc', json_extract(max(iif(name = 'end', event, NULL)), '$.test_acc'),"
        " 'tags', json_array(), 'warnings', json_array(), 'error', '" REBUILT "')"
        " FROM saved WHERE run > 0 AND run NOT IN (SELECT number FROM runs) GROUP BY run"
        " HAVING sum(name IN ('run', 'epoch')) > 0");
    while (ok && query_row(&row)) {
        json_t *object = query_json(&row, 1);
        ok = put_object(to, object, NULL, NULL, saved, err);
        json_decref(object);
    }
    return query_finish(&row, ok, "be read", err);
}

static bool take_points(struct store *from, struct store *to, struct store_salvaged *saved,
                        struct error *err)
{
    static const char insert[] =
        "INSERT OR IGNORE INTO points (run, step, steps, rows, epoch, train_loss, train_acc,"
        " samples_per_s, lr) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9"
        " WHERE EXISTS (SELECT 1 FROM runs WHERE number = ?1)";
    return take_rows(from, to,
                     "SELECT run, step, steps, rows, epoch, train_loss, train_acc, samples_per_s,"
                     " lr FROM points WHERE typeof(steps) = 'integer' AND typeof(rows) = 'integer'",
                     insert, &saved->points, err) &&
           take_rows(from, to,
                     "SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8 FROM lost_and_found WHERE"
                     " nfield = 9 AND typeof(c0) = 'integer' AND typeof(c1) = 'integer' AND"
                     " typeof(c2) = 'integer' AND typeof(c3) = 'integer'",
                     insert, &saved->points, err);
}

static bool take_tags(struct store *from, struct store *to, struct error *err)
{
    static const char insert[] = "INSERT OR IGNORE INTO tags (run, tag) SELECT ?1, ?2"
                                 " WHERE EXISTS (SELECT 1 FROM runs WHERE number = ?1)";
    long count = 0;
    return take_rows(from, to, "SELECT run, tag FROM tags WHERE typeof(tag) = 'text'", insert,
                     &count, err) &&
           take_rows(from, to,
                     "SELECT c0, c1 FROM lost_and_found WHERE nfield = 2 AND"
                     " typeof(c0) = 'integer' AND typeof(c1) = 'text'",
                     insert, &count, err);
}

static bool count_epochs(struct store *to, struct store_salvaged *saved, struct error *err)
{
    struct query row;
    query_begin(&row, to,
                "SELECT sum(have), sum(max(done - have, 0)) FROM (SELECT coalesce(epochs_done, 0)"
                " AS done, (SELECT count(*) FROM events WHERE run = runs.number AND name = 'epoch')"
                " AS have FROM runs)");
    if (query_row(&row)) {
        saved->epochs = (long)sqlite3_column_int64(row.statement, 0);
        saved->lost_epochs = (long)sqlite3_column_int64(row.statement, 1);
    }
    return query_end(&row, "be read", err);
}

/* The highest number that anything says, so that none is given twice. */
static bool raise_number(struct store *from, struct store *to, struct error *err)
{
    struct query row;
    long last = 0;
    query_begin(&row, from, "SELECT max(seq) FROM sqlite_sequence WHERE name = 'runs'");
    if (query_row(&row))
        last = (long)sqlite3_column_int64(row.statement, 0);
    sqlite3_finalize(row.statement);
    /* A damaged one may be anything. */
    return last <= 0 || last > HIGHEST_NUMBER || store_raise_number(to, last, err);
}

static bool salvage(struct store *from, struct store *to, struct store_salvaged *saved,
                    struct error *err)
{
    return take_all_runs(from, to, saved, err) && take_all_events(from, to, err) &&
           rebuild(to, saved, err) &&
           store_exec(to,
                      "INSERT INTO events SELECT * FROM saved WHERE run IN (SELECT number FROM"
                      " runs); DROP TABLE saved",
                      "be written", err) &&
           take_points(from, to, saved, err) && take_tags(from, to, err) &&
           count_epochs(to, saved, err) && raise_number(from, to, err);
}

bool store_salvage(const char *recovered, struct store *to, struct store_salvaged *saved,
                   struct error *err)
{
    struct store *from = store_new(recovered, err);
    *saved = (struct store_salvaged){0};
    if (!from)
        return false;
    bool ok = store_open_database(from, SQLITE_OPEN_READONLY, err) && store_begin(to, err);
    if (ok && !(salvage(from, to, saved, err) && store_commit(to, err))) {
        store_rollback(to);
        ok = false;
    }
    store_close(from);
    return ok;
}
