/* SPDX-License-Identifier: MIT */
#include "store/kept_epochs.h"

#include "store/database.h"
#include "store/query.h"
#include "store/read.h"

static bool count_epochs(struct store *store, long run, json_int_t *count, struct error *err)
{
    struct query query;
    *count = 0;
    query_begin(&query, store, "SELECT count(*) FROM events WHERE run = ? AND name = 'epoch'");
    query_bind_long(&query, run);
    if (query_row(&query))
        *count = sqlite3_column_int64(query.statement, 0);
    return query_end(&query, "be read", err);
}

bool store_put_thinned(struct store *store, long run, json_t *object, struct error *err)
{
    json_int_t kept, done = json_integer_value(json_object_get(object, "epochs_done"));
    if (!count_epochs(store, run, &kept, err))
        return false;
    return kept >= done ||
           json_object_set_new(object, "thinned",
                               json_pack("{s:I, s:I}", "kept", kept, "of", done)) == 0 ||
           error_memory(err, "thinned");
}

/* By the numbers of the epochs, as engine/server/record/thinning.h does: events before and between
 * them must not shift what stays, or thinning it again would leave next to nothing. */
bool store_events_thinned(struct store *store, long run, long most, json_t **events,
                          struct error *err)
{
    struct query query;
    json_int_t count, stride = 1;
    if (!count_epochs(store, run, &count, err))
        return false;
    while (count / stride > most)
        stride *= 2;
    if (stride == 1)
        return store_events(store, run, NULL, events, err);
    query_begin(&query, store,
                "SELECT event FROM events WHERE run = ?1 AND (name <> 'epoch'"
                "  OR iif(json_valid(event), json_extract(event, '$.epoch'), 0) % ?2 = 0"
                "  OR number IN (SELECT min(number) FROM events WHERE run = ?1 AND name = 'epoch')"
                "  OR number IN (SELECT max(number) FROM events WHERE run = ?1 AND name = 'epoch')"
                "  OR number IN (SELECT number FROM events WHERE run = ?1 AND name = 'epoch'"
                "    ORDER BY iif(json_valid(event), coalesce(json_extract(event, '$.val_acc'),"
                "      json_extract(event, '$.test_acc')), NULL) DESC,"
                "    number LIMIT 1)) ORDER BY number");
    query_bind_long(&query, run);
    query_bind_long(&query, stride);
    return store_collect(&query, events, err);
}
