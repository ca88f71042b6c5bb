/* SPDX-License-Identifier: MIT */
#include "store/query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "store/database.h"

void query_begin(struct query *query, struct store *store, const char *sql)
{
    *query = (struct query){.store = store, .next = 1};
    query->status = sqlite3_prepare_v2(store->db, sql, -1, &query->statement, NULL);
}

void query_begin_kept(struct query *query, struct store *store, enum kept_statement which,
                      const char *sql)
{
    sqlite3_stmt **kept = &store->kept[which];
    *query = (struct query){.store = store, .next = 1, .kept = true};
    if (!*kept)
        query->status =
            sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, kept, NULL);
    query->statement = *kept;
}

void query_release_kept(struct store *store)
{
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        sqlite3_finalize(store->kept[i]);
        store->kept[i] = NULL;
    }
}

static void bound(struct query *query, int status)
{
    query->status = status;
    query->next++;
}

void query_bind_long(struct query *query, int64_t value)
{
    if (query->status == SQLITE_OK)
        bound(query, sqlite3_bind_int64(query->statement, query->next, value));
}

void query_bind_double(struct query *query, double value)
{
    if (query->status != SQLITE_OK)
        return;
    bound(query, isfinite(value) ? sqlite3_bind_double(query->statement, query->next, value)
                                 : sqlite3_bind_null(query->statement, query->next));
}

void query_bind_text(struct query *query, const char *text)
{
    if (query->status == SQLITE_OK)
        bound(query,
              text ? sqlite3_bind_text(query->statement, query->next, text, -1, SQLITE_TRANSIENT)
                   : sqlite3_bind_null(query->statement, query->next));
}

void query_bind_json(struct query *query, const json_t *json)
{
    char *text = json ? json_to_text(json, JSON_LINE | JSON_ENCODE_ANY) : NULL;
    if (json && !text)
        query->memory = true;
    query_bind_text(query, text);
    free(text);
}

bool query_row(struct query *query)
{
    if (query->memory || (query->status != SQLITE_OK && query->status != SQLITE_ROW))
        return false;
    query->status = sqlite3_step(query->statement);
    return query->status == SQLITE_ROW;
}

const char *query_text(const struct query *query, int column)
{
    const unsigned char *text = sqlite3_column_text(query->statement, column);
    return text ? (const char *)text : "";
}

/* What cannot be read is null: the rest of the row still counts. */
json_t *query_json(struct query *query, int column)
{
    const char *text = query_text(query, column);
    json_t *json = *text ? json_read(text, strlen(text), JSON_DECODE_ANY, NULL) : NULL;
    return json ? json : json_null();
}

bool query_end(struct query *query, const char *what, struct error *err)
{
    while (query_row(query))
        ;
    bool ok = !query->memory && query->status == SQLITE_DONE;
    if (query->memory)
        error_memory(err, what);
    else if (!ok)
        store_error(query->store, what, err);
    if (!query->kept) {
        sqlite3_finalize(query->statement);
    } else if (query->statement) {
        sqlite3_reset(query->statement);
        sqlite3_clear_bindings(query->statement);
    }
    query->statement = NULL;
    return ok;
}

bool query_finish(struct query *query, bool ok, const char *what, struct error *err)
{
    if (ok)
        return query_end(query, what, err);
    sqlite3_finalize(query->statement);
    return false;
}
