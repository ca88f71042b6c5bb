/* SPDX-License-Identifier: MIT */
#include "run_source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"

static bool open_store(struct store **store, struct error *err)
{
    char *path = store_default_path(err);
    bool ok = path && store_open_reading(path, store, err);
    free(path);
    if (!ok && err->kind == ERROR_ABSENT) {
        *err = (struct error)ERROR_INIT;
        ok = true;
    }
    return ok;
}

bool run_source_open(struct run_source *source, struct error *err)
{
    *source = (struct run_source){.seconds = SESSION_SECONDS};
    if (!session_open_running(&source->client, err))
        return false;
    if (open_store(&source->store, &source->unread))
        return true;
    if (!source->client)
        *err = source->unread;
    return source->client != NULL;
}

void run_source_open_quickly(struct run_source *source, double seconds)
{
    struct error ignored = ERROR_INIT;
    *source = (struct run_source){.seconds = seconds};
    /* Without a greeting: members that another version lacks are only missing words. */
    if (!client_connect(&source->client, &ignored))
        source->client = NULL;
    if (!open_store(&source->store, &source->unread))
        source->store = NULL;
}

void run_source_close(struct run_source *source)
{
    client_close(source->client);
    store_close(source->store);
}

static json_int_t number_of(const json_t *run)
{
    return json_integer_value(json_object_get(run, "run"));
}

static bool append(json_t *list, json_t *run, struct error *err)
{
    return json_array_append(list, run) == 0 || error_memory(err, "runs");
}

/* The next engine will write the same of it; until then nobody else does. */
static void mark_lost(const struct run_source *source, json_t *run)
{
    static const char *const unfinished[] = {"queued", "running", "paused"};
    const char *status = json_string_value(json_object_get(run, "status"));
    if (source->client || !status || store_has_writer(source->store))
        return;
    for (size_t i = 0; i < sizeof unfinished / sizeof *unfinished; i++)
        if (strcmp(status, unfinished[i]) == 0) {
            /* Without memory for it the run looks as it was kept. */
            json_object_set_new(run, "status", json_string("interrupted"));
            json_object_set_new(run, "error", json_string(STORE_LOST));
            return;
        }
}

/* Both lists are sorted by the runs' numbers; what both have is taken from `newer`. */
static bool merge(const json_t *older, const json_t *newer, json_t *all, struct error *err)
{
    size_t i = 0, j = 0, older_count = json_array_size(older), newer_count = json_array_size(newer);
    bool ok = true;
    while (ok && (i < older_count || j < newer_count)) {
        json_t *kept = json_array_get(older, i), *live = json_array_get(newer, j);
        if (live && (!kept || number_of(live) <= number_of(kept))) {
            i += kept && number_of(live) == number_of(kept);
            j++;
            ok = append(all, live, err);
        } else {
            i++;
            ok = append(all, kept, err);
        }
    }
    return ok;
}

bool run_source_list(struct run_source *source, json_t **runs, struct error *err)
{
    const struct store_filter everything = STORE_FILTER_INIT;
    json_t *kept = NULL, *live = NULL, *all = json_array();
    bool ok = all || error_memory(err, "runs");
    /* The engine first: what it knows then, the store does not know better. */
    if (ok && source->client)
        ok = client_call(source->client, "runs", NULL, source->seconds, &live, err);
    if (ok && source->store)
        ok = store_list(source->store, &everything, false, &kept, err);
    for (size_t i = 0; i < json_array_size(kept); i++)
        mark_lost(source, json_array_get(kept, i));
    ok = ok && merge(kept, live, all, err);
    json_decref(kept);
    json_decref(live);
    if (ok)
        *runs = all;
    else
        json_decref(all);
    return ok;
}

/* An engine that keeps nothing gives numbers that the store has for other runs. */
static bool is_same_run(const json_t *a, const json_t *b)
{
    double when = json_number_value(json_object_get(a, "submitted_at"));
    return number_of(a) == number_of(b) &&
           fabs(when - json_number_value(json_object_get(b, "submitted_at"))) < 1e-3;
}

/* What did not fit into the engine's answer, or only the store has. */
static void fill_in(json_t *run, const json_t *kept)
{
    json_t *epochs = json_object_get(kept, "epochs");
    if (json_object_get(run, "epochs_left_out") &&
        json_array_size(epochs) > json_array_size(json_object_get(run, "epochs")) &&
        json_object_set(run, "epochs", epochs) == 0)
        json_object_del(run, "epochs_left_out");
    /* Without memory for it, less is shown. */
    json_object_update_missing(run, (json_t *)kept);
}

bool run_source_show(struct run_source *source, long number, json_t **run, struct error *err)
{
    json_t *kept = NULL;
    *run = NULL;
    bool ok = !source->client ||
              client_call(source->client, "show", json_pack("{s:I}", "run", (json_int_t)number),
                          source->seconds, run, err);
    if (!ok && err->kind != ERROR_ABSENT)
        return false;
    *err = (struct error)ERROR_INIT;
    if (source->store)
        ok = store_show(source->store, number, &kept, err) || err->kind == ERROR_ABSENT;
    else
        ok = true;
    if (kept)
        mark_lost(source, kept);
    if (ok && *run && kept && is_same_run(*run, kept))
        fill_in(*run, kept);
    else if (ok && !*run)
        *run = json_incref(kept);
    json_decref(kept);
    if (ok && *run) {
        *err = (struct error)ERROR_INIT;
        return true;
    }
    json_decref(*run);
    *run = NULL;
    return ok ? error_set(err, ERROR_ABSENT, "there is no run %ld", number) : false;
}
