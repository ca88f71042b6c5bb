/* SPDX-License-Identifier: MIT */
#include "store/rescue/copy.h"

#include <math.h>

#include "base/text.h"
#include "store/database.h"
#include "store/query.h"
#include "store/write.h"

bool store_submitted_at(struct store *store, long run, double *seconds, struct error *err)
{
    struct query query;
    *seconds = NAN;
    query_begin(&query, store, "SELECT submitted_at FROM runs WHERE number = ?");
    query_bind_long(&query, run);
    bool found = query_row(&query);
    if (found && sqlite3_column_type(query.statement, 0) != SQLITE_NULL)
        *seconds = sqlite3_column_double(query.statement, 0);
    return query_end(&query, "be read", err) &&
           (found || error_set(err, ERROR_ABSENT, "there is no run %ld", run));
}

/* Are these the times of one run? */
static bool is_same_time(double a, double b)
{
    /* JSON keeps 15 digits of them. */
    return isnan(a) || isnan(b) ? isnan(a) && isnan(b) : fabs(a - b) < 1e-3;
}

static bool with_numbers(struct store *store, const char *sql, long first, long second,
                         const char *what, struct error *err)
{
    struct query query;
    query_begin(&query, store, sql);
    query_bind_long(&query, first);
    if (second)
        query_bind_long(&query, second);
    return query_end(&query, what, err);
}

bool store_raise_number(struct store *store, long number, struct error *err)
{
    /* There is no row before the first run. */
    return with_numbers(store,
                        "INSERT INTO sqlite_sequence (name, seq) SELECT 'runs', 0 WHERE ?1 > 0 AND"
                        " NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'runs')",
                        number, 0, "be written", err) &&
           with_numbers(store,
                        "UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'runs' AND seq < ?1",
                        number, 0, "be written", err);
}

bool store_renumber(struct store *store, long run, long number, struct error *err)
{
    static const char *const changes[] = {
        "UPDATE runs SET number = ?2, object = iif(json_valid(object),"
        " json_set(object, '$.run', ?2), object) WHERE number = ?1",
        "UPDATE events SET run = ?2, event = iif(iif(json_valid(event), json_type(event, '$.run'),"
        " NULL) = 'integer', json_set(event, '$.run', ?2), event) WHERE run = ?1",
        "UPDATE points SET run = ?2 WHERE run = ?1",
        "UPDATE tags SET run = ?2 WHERE run = ?1",
    };
    if (!store_part_begin(store, err))
        return false;
    /* Until the end of the transaction events may have no run. */
    bool ok = store_exec(store, "PRAGMA defer_foreign_keys = ON", "be written", err);
    for (size_t i = 0; ok && i < sizeof changes / sizeof *changes; i++)
        ok = with_numbers(store, changes[i], run, number, "give a run another number", err);
    return store_part_end(store, ok && store_raise_number(store, number, err), err);
}

/* "INSERT INTO TABLE (A, B) VALUES (?, ?)" with the columns of a statement. */
static void put_insertion(struct text *sql, sqlite3_stmt *from, const char *table)
{
    int count = sqlite3_column_count(from);
    text_printf(sql, "INSERT INTO %s (", table);
    for (int i = 0; i < count; i++)
        text_printf(sql, "%s\"%s\"", i ? ", " : "", sqlite3_column_name(from, i));
    text_puts(sql, ") VALUES (");
    for (int i = 0; i < count; i++)
        text_puts(sql, i ? ", ?" : "?");
    text_puts(sql, ")");
}

static bool put_row(struct store *to, const char *sql, sqlite3_stmt *row, struct error *err)
{
    struct query query;
    query_begin(&query, to, sql);
    for (int i = 0; query.status == SQLITE_OK && i < sqlite3_column_count(row); i++)
        query.status = sqlite3_bind_value(query.statement, i + 1, sqlite3_column_value(row, i));
    return query_end(&query, "take over a run", err);
}

/* `select` has one parameter, the run. */
static bool copy_rows(struct store *to, struct store *from, const char *table, const char *select,
                      long run, long *count, struct error *err)
{
    struct query query;
    struct text sql = TEXT_INIT;
    query_begin(&query, from, select);
    query_bind_long(&query, run);
    if (query.statement)
        put_insertion(&sql, query.statement, table);
    const char *insertion = text_cstr(&sql);
    bool ok = insertion || error_memory(err, table);
    *count = 0;
    while (ok && query_row(&query)) {
        ok = put_row(to, insertion, query.statement, err);
        ++*count;
    }
    text_free(&sql);
    return query_finish(&query, ok, "be read", err);
}

bool store_copy_run(struct store *to, struct store *from, long run, struct error *err)
{
    static const char *const parts[][2] = {
        {"runs", "SELECT * FROM runs WHERE number = ?"},
        {"events", "SELECT * FROM events WHERE run = ? ORDER BY number"},
        {"points", "SELECT * FROM points WHERE run = ? ORDER BY step"},
        {"tags", "SELECT * FROM tags WHERE run = ? ORDER BY tag"},
    };
    if (!store_part_begin(to, err))
        return false;
    bool ok = with_numbers(to, "DELETE FROM runs WHERE number = ?", run, 0, "replace a run", err);
    for (size_t i = 0; ok && i < sizeof parts / sizeof *parts; i++) {
        long count;
        ok = copy_rows(to, from, parts[i][0], parts[i][1], run, &count, err);
        if (ok && i == 0 && count == 0)
            ok = error_set(err, ERROR_ABSENT, "there is no run %ld", run);
    }
    return store_part_end(to, ok, err);
}

bool store_make_way(struct store *store, long run, double submitted_at, struct store_taken *taken,
                    struct error *err)
{
    double time;
    long last;
    if (!store_submitted_at(store, run, &time, err)) {
        bool free = err->kind == ERROR_ABSENT;
        if (free)
            *err = (struct error)ERROR_INIT;
        return free;
    }
    if (is_same_time(time, submitted_at))
        return true;
    if (!store_last_number(store, &last, err) || !store_renumber(store, run, last + 1, err))
        return false;
    if (taken->renumbered++ == 0)
        taken->first_number = last + 1;
    return true;
}

/* *unread: the run is left out, because `from` does not give it. */
static bool take_run(struct store *to, struct store *from, long run, double submitted_at,
                     struct store_taken *taken, bool *unread, struct error *err)
{
    if (!store_make_way(to, run, submitted_at, taken, err))
        return false;
    bool ok = store_copy_run(to, from, run, err);
    int status = sqlite3_errcode(from->db);
    *unread = !ok && status != SQLITE_OK && status != SQLITE_ROW && status != SQLITE_DONE;
    if (*unread)
        *err = (struct error)ERROR_INIT;
    return ok || *unread;
}

static bool take_rows(struct store *to, struct query *newest, struct store_taken *taken,
                      struct error *err)
{
    bool unread = false;
    while (query_row(newest)) {
        long run = (long)sqlite3_column_int64(newest->statement, 0);
        bool dated = sqlite3_column_type(newest->statement, 1) != SQLITE_NULL;
        double time = dated ? sqlite3_column_double(newest->statement, 1) : NAN;
        if (!take_run(to, newest->store, run, time, taken, &unread, err))
            return false;
        taken->unread += unread;
        taken->runs += !unread;
    }
    return true;
}

bool store_take_all(struct store *to, struct store *from, struct store_taken *taken,
                    struct error *err)
{
    struct query runs;
    *taken = (struct store_taken){0};
    if (!store_begin(to, err))
        return false;
    query_begin(&runs, from, "SELECT number, submitted_at FROM runs ORDER BY number DESC");
    bool ok = take_rows(to, &runs, taken, err);
    if (query_finish(&runs, ok, "be read", err) && store_commit(to, err))
        return true;
    store_rollback(to);
    return false;
}
