/* SPDX-License-Identifier: MIT */
#include "store/read.h"

#include "base/json.h"
#include "store/kept_epochs.h"
#include "store/query.h"
#include "store/rows.h"

bool store_tags(struct store *store, long run, json_t **tags, struct error *err)
{
    struct query query;
    *tags = json_array();
    query_begin(&query, store, "SELECT tag FROM tags WHERE run = ? ORDER BY tag");
    query_bind_long(&query, run);
    while (query_row(&query))
        json_array_append_new(*tags, json_any_text(query_text(&query, 0)));
    if (query_end(&query, "be read", err) && (*tags || error_memory(err, "tags")))
        return true;
    json_decref(*tags);
    *tags = NULL;
    return false;
}

bool store_collect(struct query *query, json_t **list, struct error *err)
{
    *list = json_array();
    while (query_row(query))
        json_array_append_new(*list, query_json(query, 0));
    if (query_end(query, "be read", err) && *list)
        return true;
    json_decref(*list);
    *list = NULL;
    return err->kind != ERROR_NONE ? false : error_memory(err, "events");
}

bool store_events(struct store *store, long run, const char *name, json_t **events,
                  struct error *err)
{
    struct query query;
    query_begin(&query, store,
                "SELECT event FROM events WHERE run = ? AND (?2 IS NULL OR name = ?2)"
                " ORDER BY number");
    query_bind_long(&query, run);
    query_bind_text(&query, name);
    return store_collect(&query, events, err);
}

bool store_points(struct store *store, long run, json_t **points, struct error *err)
{
    struct store_cursor *cursor;
    json_t *row = NULL;
    *points = NULL;
    if (!store_cursor_open(store, run, STORE_POINTS, &cursor, err))
        return false;
    bool ok = (*points = json_array()) || error_memory(err, "points");
    while (ok && (ok = store_cursor_next(cursor, &row, err)) && row)
        ok = json_array_append_new(*points, row) == 0 || error_memory(err, "points");
    store_cursor_close(cursor);
    if (!ok)
        json_decref(*points);
    return ok;
}

static bool read_run(struct store *store, long run, json_t **object, struct error *err)
{
    struct query query;
    *object = NULL;
    query_begin(&query, store, "SELECT object, spec, environment FROM runs WHERE number = ?");
    query_bind_long(&query, run);
    if (query_row(&query)) {
        *object = query_json(&query, 0);
        json_object_set_new(*object, "spec", query_json(&query, 1));
        json_object_set_new(*object, "environment", query_json(&query, 2));
    }
    if (!query_end(&query, "be read", err))
        return false;
    if (!*object)
        return error_set(err, ERROR_ABSENT, "there is no run %ld", run);
    return json_is_object(*object) ||
           error_set(err, ERROR_FAILED, "%s: run %ld is damaged", store->path, run);
}

/* Takes over `value`. */
static bool put(json_t *object, const char *key, json_t *value, struct error *err)
{
    return json_object_set_new(object, key, value) == 0 || error_memory(err, key);
}

/* The newest event of one name; NULL: there is none. */
static bool read_newest(struct store *store, long run, const char *name, json_t **event,
                        struct error *err)
{
    struct query query;
    *event = NULL;
    query_begin(&query, store,
                "SELECT event FROM events WHERE run = ? AND name = ? ORDER BY number DESC LIMIT 1");
    query_bind_long(&query, run);
    query_bind_text(&query, name);
    if (query_row(&query))
        *event = query_json(&query, 0);
    return query_end(&query, "be read", err);
}

/* What its last epoch says of the devices. */
static bool put_device_figures(struct store *store, long run, json_t *object, struct error *err)
{
    json_t *epoch;
    if (!read_newest(store, run, "epoch", &epoch, err))
        return false;
    json_t *figures = json_object_get(epoch, "devices");
    bool ok = put(object, "device_figures", figures ? json_incref(figures) : json_array(), err);
    json_decref(epoch);
    return ok;
}

/* The newest event of a kind, under its name. */
static bool put_newest(struct store *store, long run, const char *name, json_t *object,
                       struct error *err)
{
    json_t *event;
    return read_newest(store, run, name, &event, err) && (!event || put(object, name, event, err));
}

/* What its newest "run" event says of its devices. */
static bool put_beginning(struct store *store, long run, json_t *object, struct error *err)
{
    static const char *const members[] = {"types", "memory", "sync_bytes_per_step"};
    json_t *event;
    bool ok = read_newest(store, run, "run", &event, err);
    for (size_t i = 0; ok && i < sizeof members / sizeof *members; i++) {
        json_t *value = json_object_get(event, members[i]);
        ok = !value || put(object, members[i], json_incref(value), err);
    }
    json_decref(event);
    return ok;
}

bool store_head(struct store *store, long run, json_t **object, struct error *err)
{
    json_t *read = NULL, *tags = NULL;
    if (read_run(store, run, &read, err) && put_device_figures(store, run, read, err) &&
        put_beginning(store, run, read, err) && put_newest(store, run, "profile", read, err) &&
        put_newest(store, run, "timeline", read, err) && store_tags(store, run, &tags, err) &&
        put(read, "tags", tags, err) && store_put_thinned(store, run, read, err)) {
        *object = read;
        return true;
    }
    json_decref(read);
    return false;
}
