/* SPDX-License-Identifier: MIT */
#include "store/rows.h"

#include <stdlib.h>

#include "base/text.h"
#include "store/database.h"
#include "store/query.h"

/* An epoch of 64 devices takes some 40 KiB as JSON values. */
#define BATCH_ROWS 64

struct store_cursor {
    struct store *store;
    long run;
    enum store_rows rows;
    int64_t last, end; /* keys: of the row read last, of the last one to read */
    json_t *batch[BATCH_ROWS];
    size_t count, next; /* of the batch */
};

/* Where rows are, by which key they are ordered, and which of a run's they are. */
static const struct source {
    const char *name, *table, *key, *value, *condition;
} sources[STORE_ROWS] = {
    [STORE_EPOCHS] = {"epochs", "events", "number", "event", "name = 'epoch'"},
    [STORE_POINTS] = {"points", "points", "step",
                      "json_object('event', 'point', 'epoch', epoch, 'step', step, 'steps', steps,"
                      " 'rows', rows, 'train_loss', train_loss, 'train_acc', train_acc,"
                      " 'samples_per_s', samples_per_s, 'lr', lr)",
                      "1"},
    [STORE_RETUNES] = {"retunes", "events", "number", "event", "name = 'retune'"},
    [STORE_OTHERS] = {"events", "events", "number", "event",
                      "name NOT IN ('run', 'epoch', 'retune', 'profile', 'timeline', 'end')"},
};

const char *store_rows_name(enum store_rows rows)
{
    return sources[rows].name;
}

static bool find_end(struct store_cursor *cursor, struct error *err)
{
    const struct source *source = &sources[cursor->rows];
    struct query query;
    char *sql = text_format("SELECT coalesce(max(%s), -1) FROM %s WHERE run = ?", source->key,
                            source->table);
    if (!sql)
        return error_memory(err, "rows");
    query_begin(&query, cursor->store, sql);
    free(sql);
    query_bind_long(&query, cursor->run);
    if (query_row(&query))
        cursor->end = sqlite3_column_int64(query.statement, 0);
    return query_end(&query, "be read", err);
}

bool store_cursor_open(struct store *store, long run, enum store_rows rows,
                       struct store_cursor **out, struct error *err)
{
    struct store_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor)
        return error_memory(err, "rows");
    *cursor = (struct store_cursor){.store = store, .run = run, .rows = rows, .last = -1};
    if (find_end(cursor, err)) {
        *out = cursor;
        return true;
    }
    free(cursor);
    return false;
}

/* The next rows; a batch that is not full is the last one. */
static bool read_batch(struct store_cursor *cursor, struct error *err)
{
    const struct source *source = &sources[cursor->rows];
    struct query query;
    char *sql = text_format("SELECT %s, %s FROM %s WHERE run = ? AND %s > ? AND %s <= ? AND %s"
                            " ORDER BY %s LIMIT %d",
                            source->key, source->value, source->table, source->key, source->key,
                            source->condition, source->key, BATCH_ROWS);
    if (!sql)
        return error_memory(err, "rows");
    query_begin(&query, cursor->store, sql);
    free(sql);
    query_bind_long(&query, cursor->run);
    query_bind_long(&query, cursor->last);
    query_bind_long(&query, cursor->end);
    cursor->count = cursor->next = 0;
    while (cursor->count < BATCH_ROWS && query_row(&query)) {
        cursor->last = sqlite3_column_int64(query.statement, 0);
        cursor->batch[cursor->count++] = query_json(&query, 1);
    }
    if (cursor->count < BATCH_ROWS)
        cursor->last = cursor->end;
    return query_end(&query, "be read", err);
}

bool store_cursor_next(struct store_cursor *cursor, json_t **row, struct error *err)
{
    *row = NULL;
    if (cursor->next == cursor->count && cursor->last < cursor->end && !read_batch(cursor, err))
        return false;
    if (cursor->next < cursor->count)
        *row = cursor->batch[cursor->next++];
    return true;
}

void store_cursor_close(struct store_cursor *cursor)
{
    while (cursor && cursor->next < cursor->count)
        json_decref(cursor->batch[cursor->next++]);
    free(cursor);
}
