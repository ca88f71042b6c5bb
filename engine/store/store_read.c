/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "engine/store/store_file.h"

/* The tags of a run, sorted. */
static bool read_tags(struct store *store, long run, json_t **tags, struct error *err)
{
    struct query query;
    *tags = json_array();
    query_begin(&query, store, "SELECT tag FROM tags WHERE run = ? ORDER BY tag");
    query_bind_long(&query, run);
    while (query_row(&query))
        json_array_append_new(*tags, json_any_text(query_text(&query, 0)));
    return query_end(&query, "be read", err) && (*tags || error_memory(err, "tags"));
}

/* A run's object with its tags from a row (number, object, spec). A damaged row is left out. */
static bool append_run(struct store *store, struct query *query, json_t *runs, struct error *err)
{
    json_t *object = query_json(query, 1), *spec = query_json(query, 2), *tags = NULL;
    bool ok = true;
    if (json_is_object(spec))
        json_object_set(object, "spec", spec);
    json_decref(spec);
    if (json_is_object(object)) {
        ok = read_tags(store, (long)sqlite3_column_int64(query->statement, 0), &tags, err);
        if (ok)
            ok = (json_object_set_new(object, "tags", tags) == 0 &&
                  json_array_append(runs, object) == 0) ||
                 error_memory(err, "runs");
        else
            json_decref(tags);
    }
    json_decref(object);
    return ok;
}

/* The conditions of a filter, each with one parameter, in the order of bind_filter. */
static void put_conditions(struct text *sql, const struct store_filter *f, int words)
{
    const char *const columns[] = {f->model ? "model" : NULL, f->data ? "data" : NULL,
                                   f->devices ? "devices" : NULL, f->status ? "status" : NULL};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (columns[i])
            text_printf(sql, " AND %s = ? COLLATE NOCASE", columns[i]);
    if (f->tag)
        text_puts(sql, " AND number IN (SELECT run FROM tags WHERE tag = ? COLLATE NOCASE)");
    if (isfinite(f->since))
        text_puts(sql, " AND submitted_at >= ?");
    if (isfinite(f->until))
        text_puts(sql, " AND submitted_at < ?");
    for (int i = 0; i < words; i++)
        text_puts(sql,
                  " AND instr(lower(coalesce(model, '') || ' ' || coalesce(data, '') || ' ' ||"
                  " coalesce(devices, '') || ' ' || status || ' ' || coalesce(note, '') || ' ' ||"
                  " coalesce((SELECT group_concat(tag, ' ') FROM tags WHERE run = number), '')),"
                  " lower(?)) > 0");
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
}

/* Next word behind *at, of *length bytes; NULL: none. */
static const char *next_word(const char **at, size_t *length)
{
    const char *word = *at + strspn(*at, " ");
    *length = strcspn(word, " ");
    *at = word + *length;
    return *length ? word : NULL;
}

static int count_words(const char *words)
{
    size_t length;
    int count = 0;
    while (words && next_word(&words, &length))
        count++;
    return count;
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

bool store_list(struct store *store, const struct store_filter *filter, bool with_spec,
                json_t **runs, struct error *err)
{
    struct text sql = TEXT_INIT;
    struct query query;
    json_t *list = json_array();
    bool ok = list != NULL;
    text_printf(&sql, "SELECT number, object, %s FROM (SELECT * FROM runs WHERE 1",
                with_spec ? "spec" : "NULL");
    put_conditions(&sql, filter, count_words(filter->words));
    text_puts(&sql, " ORDER BY number DESC LIMIT ?) ORDER BY number");
    if (!ok || !text_cstr(&sql)) {
        text_free(&sql);
        json_decref(list);
        return error_memory(err, "runs");
    }
    query_begin(&query, store, text_cstr(&sql));
    text_free(&sql);
    bind_filter(&query, filter);
    bind_words(&query, filter->words);
    query_bind_long(&query, filter->limit > 0 ? filter->limit : -1);
    while (ok && query_row(&query))
        ok = append_run(store, &query, list, err);
    if (ok)
        ok = query_end(&query, "be read", err);
    else
        sqlite3_finalize(query.statement);
    if (ok)
        *runs = list;
    else
        json_decref(list);
    return ok;
}

static bool collect(struct query *query, json_t **list, struct error *err)
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
    return collect(&query, events, err);
}

bool store_points(struct store *store, long run, json_t **points, struct error *err)
{
    struct query query;
    query_begin(&query, store,
                "SELECT json_object('event', 'point', 'epoch', epoch, 'step', step, 'steps', "
                "steps, 'rows', rows,"
                " 'train_loss', train_loss, 'train_acc', train_acc, 'samples_per_s',"
                " samples_per_s, 'lr', lr) FROM points WHERE run = ? ORDER BY step");
    query_bind_long(&query, run);
    return collect(&query, points, err);
}

static bool read_others(struct store *store, long run, json_t **events, struct error *err)
{
    struct query query;
    query_begin(&query, store,
                "SELECT event FROM events WHERE run = ? AND name NOT IN"
                " ('run', 'epoch', 'retune', 'profile', 'end') ORDER BY number");
    query_bind_long(&query, run);
    return collect(&query, events, err);
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

/* The newest "profile" event, where there is one. */
static bool put_profile(struct store *store, long run, json_t *object, struct error *err)
{
    json_t *profiles;
    if (!store_events(store, run, "profile", &profiles, err))
        return false;
    json_t *newest = json_array_get(profiles, json_array_size(profiles) - 1);
    bool ok = !newest || put(object, "profile", json_incref(newest), err);
    json_decref(profiles);
    return ok;
}

static bool read_parts(struct store *store, long run, json_t *object, struct error *err)
{
    json_t *epochs, *points, *retunes, *others, *tags;
    if (!store_events(store, run, "epoch", &epochs, err))
        return false;
    const json_t *last = json_array_get(epochs, json_array_size(epochs) - 1);
    json_t *figures = json_object_get(last, "devices");
    figures = figures ? json_incref(figures) : json_array();
    bool ok = put(object, "epochs", epochs, err);
    return put(object, "device_figures", figures, err) && ok &&
           store_points(store, run, &points, err) && put(object, "points", points, err) &&
           store_events(store, run, "retune", &retunes, err) &&
           put(object, "retunes", retunes, err) && read_others(store, run, &others, err) &&
           put(object, "events", others, err) && put_profile(store, run, object, err) &&
           read_tags(store, run, &tags, err) && put(object, "tags", tags, err);
}

bool store_show(struct store *store, long run, json_t **object, struct error *err)
{
    json_t *read = NULL;
    if (read_run(store, run, &read, err) && read_parts(store, run, read, err)) {
        *object = read;
        return true;
    }
    json_decref(read);
    return false;
}
