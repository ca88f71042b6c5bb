/* SPDX-License-Identifier: MIT */
#include "store/list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "store/query.h"
#include "store/read.h"

/*
 * Lists of runs. Their numbers are found first, from the index that holds all that is asked for,
 * and then the objects of those alone are read.
 */

#define UNREAD_ADVICE ": 'dpartui runs repair' rebuilds what can be read"

/* What lists are sorted by, with its column. */
static const struct sort_key {
    const char *name, *column;
} sort_keys[] = {
    {"run", "number"},
    {"submitted_at", "submitted_at"},
    {"status", NULL}, /* as it is shown */
    {"model", "model COLLATE NOCASE"},
    {"data", "data COLLATE NOCASE"},
    {"batch", "batch"},
    {"lr", "lr"},
    {"epochs_done", "epochs_done"},
    {"test_acc", "test_acc"},
    {"best_test_acc", "best_test_acc"},
    {"s_per_epoch", "s_per_epoch"},
    {"samples_per_s", "samples_per_s"},
    {"note", "note COLLATE NOCASE"},
    {"devices", "device_count"},
};
enum { SORT_KEYS = sizeof sort_keys / sizeof *sort_keys };

static const struct sort_key *sort_key(const char *name)
{
    for (size_t i = 0; name && i < SORT_KEYS; i++)
        if (strcmp(sort_keys[i].name, name) == 0)
            return &sort_keys[i];
    return NULL;
}

/* Next word after *at, of *length bytes; NULL: none. */
static const char *next_word(const char **at, size_t *length)
{
    const char *word = *at + strspn(*at, " ");
    *length = strcspn(word, " ");
    *at = word + *length;
    return *length ? word : NULL;
}

/* What a run is shown as. */
static const char *status_column(const struct store_filter *filter)
{
    return filter->interrupted ? "iif(status IN ('queued', 'running', 'paused'), 'interrupted',"
                                 " status)"
                               : "status";
}

/* The conditions of a filter, each with one parameter, in the order of bind_filter. */
static void put_conditions(struct text *sql, const struct store_filter *f)
{
    const char *const columns[] = {f->model ? "model" : NULL, f->data ? "data" : NULL,
                                   f->devices ? "devices" : NULL,
                                   f->status ? status_column(f) : NULL};
    const char *words = f->words;
    size_t length;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (columns[i])
            text_printf(sql, " AND %s = ? COLLATE NOCASE", columns[i]);
    if (f->tag)
        text_puts(sql, " AND number IN (SELECT run FROM tags WHERE tag = ? COLLATE NOCASE)");
    if (isfinite(f->since))
        text_puts(sql, " AND submitted_at >= ?");
    if (isfinite(f->until))
        text_puts(sql, " AND submitted_at < ?");
    if (f->without)
        text_puts(sql, " AND number NOT IN (SELECT value FROM json_each(?))");
    while (words && next_word(&words, &length))
        text_printf(sql,
                    " AND instr(lower(coalesce(model, '') || ' ' || coalesce(data, '') || ' ' ||"
                    " coalesce(devices, '') || ' ' || %s || ' ' || coalesce(note, '') ||"
                    " ' ' || coalesce((SELECT group_concat(tag, ' ') FROM tags WHERE run = number),"
                    " '')), lower(?)) > 0",
                    status_column(f));
}

static void bind_words(struct query *query, const char *words)
{
    size_t length;
    const char *word;
    while (words && (word = next_word(&words, &length))) {
        char *copy = text_format("%.*s", (int)length, word);
        query->memory |= !copy;
        query_bind_text(query, copy);
        free(copy);
    }
}

static void bind_filter(struct query *query, const struct store_filter *f)
{
    const char *const texts[] = {f->model, f->data, f->devices, f->status, f->tag};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i])
            query_bind_text(query, texts[i]);
    if (isfinite(f->since))
        query_bind_double(query, f->since);
    if (isfinite(f->until))
        query_bind_double(query, f->until);
    if (f->without)
        query_bind_json(query, f->without);
    bind_words(query, f->words);
    query_bind_long(query, f->limit > 0 ? f->limit : -1);
}

bool store_filter_has_conditions(const struct store_filter *f)
{
    const char *words = f->words;
    size_t length;
    return f->model || f->data || f->devices || f->status || f->tag ||
           (words && next_word(&words, &length)) || isfinite(f->since) || isfinite(f->until);
}

static void put_order(struct text *sql, const struct store_filter *filter, const char *usual)
{
    const struct sort_key *key = sort_key(filter->sort);
    if (!key)
        text_printf(sql, " ORDER BY %s", usual);
    else if (key->column)
        text_printf(sql, " ORDER BY %s %s NULLS LAST, number", key->column,
                    filter->descending ? "DESC" : "ASC");
    else
        text_printf(sql, " ORDER BY %s COLLATE NOCASE %s, number", status_column(filter),
                    filter->descending ? "DESC" : "ASC");
}

/* Rows (number, object, spec) of the runs that are asked for, in their order. */
static void put_statement(struct text *sql, const struct store_filter *filter, bool with_spec)
{
    /* The newest ones of all are the table's last; all else is looked up in the index. */
    text_printf(sql,
                "SELECT number, object, %s FROM runs WHERE number IN"
                " (SELECT number FROM runs %s WHERE 1",
                with_spec ? "spec" : "NULL",
                filter->sort || store_filter_has_conditions(filter) ? "INDEXED BY runs_listed"
                                                                    : "");
    put_conditions(sql, filter);
    put_order(sql, filter, "number DESC");
    text_puts(sql, " LIMIT ?)");
    put_order(sql, filter, "number");
}

/*
 * A run's object with its tags from a row (number, object, spec). A damaged row is left out, and
 * counted.
 */
static bool append_run(struct store *store, struct query *query, json_t *runs, struct error *err)
{
    const long number = (long)sqlite3_column_int64(query->statement, 0);
    json_t *object = query_json(query, 1), *spec = query_json(query, 2), *tags = NULL;
    bool ok = true;
    if (json_is_object(spec))
        json_object_set(object, "spec", spec);
    json_decref(spec);
    if (json_is_object(object)) {
        ok = store_tags(store, number, &tags, err);
        if (ok)
            ok = (json_object_set_new(object, "tags", tags) == 0 &&
                  json_array_append(runs, object) == 0) ||
                 error_memory(err, "runs");
    } else if (store->unread++ == 0) {
        store->first_unread = number;
    }
    json_decref(object);
    return ok;
}

/* Append what `sql` finds to `runs`. */
static bool append_runs(struct store *store, const char *sql, const struct store_filter *filter,
                        json_t *runs, struct error *err)
{
    struct query query;
    bool ok = true;
    store->unread = 0;
    query_begin(&query, store, sql);
    bind_filter(&query, filter);
    while (ok && query_row(&query))
        ok = append_run(store, &query, runs, err);
    return query_finish(&query, ok, "be read", err);
}

/* Only reading a row says whether it is damaged: those that were found take no place of `limit`. */
static bool list_runs(struct store *store, const char *sql, const struct store_filter *filter,
                      json_t *runs, struct error *err)
{
    struct store_filter wider = *filter;
    long allowed;
    store->unread = 0;
    do {
        allowed = store->unread;
        wider.limit = filter->limit > 0 ? filter->limit + allowed : 0;
        json_array_clear(runs);
        if (!append_runs(store, sql, &wider, runs, err))
            return false;
    } while (filter->limit > 0 && store->unread > allowed);
    return true;
}

bool store_list(struct store *store, const struct store_filter *filter, bool with_spec,
                json_t **runs, struct error *err)
{
    struct text sql = TEXT_INIT;
    json_t *list = json_array();
    if (filter->sort && !sort_key(filter->sort)) {
        json_decref(list);
        return error_set(err, ERROR_USAGE, "runs cannot be sorted by '%s'", filter->sort);
    }
    put_statement(&sql, filter, with_spec);
    bool ok = list && text_cstr(&sql) ? list_runs(store, text_cstr(&sql), filter, list, err)
                                      : error_memory(err, "runs");
    text_free(&sql);
    if (ok)
        *runs = list;
    else
        json_decref(list);
    return ok;
}

bool store_list_unread(const struct store *store, char *text, size_t size)
{
    if (store->unread == 1)
        snprintf(text, size, "%.400s: run %ld cannot be read" UNREAD_ADVICE, store->path,
                 store->first_unread);
    else if (store->unread > 1)
        snprintf(text, size, "%.400s: %ld runs cannot be read, the first is run %ld" UNREAD_ADVICE,
                 store->path, store->unread, store->first_unread);
    return store->unread > 0;
}

bool store_has_run(struct store *store, long run, bool *has, struct error *err)
{
    struct query query;
    query_begin(&query, store, "SELECT 1 FROM runs WHERE number = ?");
    query_bind_long(&query, run);
    *has = query_row(&query);
    return query_end(&query, "be read", err);
}

bool store_count_runs(struct store *store, long *count, struct error *err)
{
    struct query query;
    query_begin(&query, store, "SELECT count(*) FROM runs");
    *count = query_row(&query) ? (long)sqlite3_column_int64(query.statement, 0) : 0;
    return query_end(&query, "be read", err);
}

bool store_has_runs(struct store *store, bool *any, struct error *err)
{
    struct query query;
    query_begin(&query, store, "SELECT 1 FROM runs LIMIT 1");
    *any = query_row(&query);
    return query_end(&query, "be read", err);
}
