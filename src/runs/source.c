/* SPDX-License-Identifier: MIT */
#include "runs/source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/json.h"
#include "base/print.h"
#include "base/text.h"
#include "client/peer.h"
#include "client/session.h"
#include "client/store_wait.h"
#include "events/status.h"
#include "runs/pick.h"
#include "store/list.h"
#include "store/place.h"
#include "store/read.h"

#define STAMP_SIZE 48

static bool open_store(struct store **store, struct error *err)
{
    store_wait();
    char *path = store_default_path(err);
    bool ok = path && store_open_reading(path, store, err);
    free(path);
    if (!ok && err->kind == ERROR_ABSENT) {
        *err = (struct error)ERROR_INIT;
        ok = true;
    }
    return ok;
}

/* One of an older version stays so. NULL: there is none to read now. */
static struct store *open_present_store(void)
{
    struct error ignored = ERROR_INIT;
    struct store *store = NULL;
    int version;
    char *path = store_default_path(&ignored);
    bool ok = path && store_open_as_is(path, &store, &version, &ignored);
    free(path);
    if (ok && version == STORE_VERSION)
        return store;
    if (ok)
        store_close(store);
    return NULL;
}

/* When the store was last written, in words; "" when that is not known. */
static void when_written(char text[STAMP_SIZE])
{
    static const char *const ends[] = {"", "-wal"};
    struct error ignored = ERROR_INIT;
    char *path = store_default_path(&ignored);
    time_t last = 0;
    struct tm parts;
    for (size_t i = 0; path && i < sizeof ends / sizeof *ends; i++) {
        struct stat info;
        char *file = text_format("%s%s", path, ends[i]);
        if (file && stat(file, &info) == 0 && info.st_mtime > last)
            last = info.st_mtime;
        free(file);
    }
    free(path);
    if (!last || !localtime_r(&last, &parts) ||
        !strftime(text, STAMP_SIZE, ", as of %Y-%m-%d %H:%M:%S", &parts))
        text[0] = '\0';
}

/* Is the engine silent, and can the store answer in its place? From here on it does. */
static bool do_without(struct run_source *source, struct error *err)
{
    char when[STAMP_SIZE], who[40] = "";
    pid_t engine = peer_of_lock();
    if (err->kind != ERROR_SILENT || source->live || !source->store)
        return false;
    client_close(source->client);
    source->client = NULL;
    source->silent = true;
    *err = (struct error)ERROR_INIT;
    if (source->quiet)
        return true;
    when_written(when);
    if (engine)
        snprintf(who, sizeof who, " (pid %ld)", (long)engine);
    print_to(stderr, "dpartui: the engine%s does not answer: this is what its store has%s\n", who,
             when);
    return true;
}

/* Ask the engine, if there is one that answers; else true, and *result is NULL. */
static bool ask(struct run_source *source, const char *method, json_t *params, json_t **result,
                struct error *err)
{
    *result = NULL;
    if (!source->client) {
        json_decref(params);
        return true;
    }
    return client_call(source->client, method, params, source->seconds, result, err) ||
           do_without(source, err);
}

bool run_source_open(struct run_source *source, struct error *err)
{
    *source = (struct run_source){.seconds = RUN_SOURCE_SECONDS};
    bool heard = session_open_within(&source->client, source->seconds, err);
    if (!heard && err->kind != ERROR_SILENT)
        return false;
    bool opened = open_store(&source->store, &source->unread);
    if (!heard)
        heard = do_without(source, err);
    else if (!opened && !source->client)
        *err = source->unread;
    if (heard && (opened || source->client))
        return true;
    run_source_close(source);
    return false;
}

bool run_source_open_live(struct run_source *source, struct error *err)
{
    *source = (struct run_source){.seconds = SESSION_SECONDS, .live = true};
    if (!session_open_running(&source->client, err))
        return false;
    if (!source->client)
        return error_set(err, ERROR_FAILED, "the engine has ended: see 'dpartui engine status'");
    open_store(&source->store, &source->unread);
    return true;
}

void run_source_open_quickly(struct run_source *source, double seconds)
{
    struct error ignored = ERROR_INIT;
    *source = (struct run_source){.seconds = seconds, .quiet = true};
    /* Without a greeting: members that another version lacks are only missing words. */
    if (!client_connect(&source->client, &ignored))
        source->client = NULL;
    source->store = open_present_store();
}

void run_source_close(struct run_source *source)
{
    client_close(source->client);
    store_close(source->store);
    source->client = NULL;
    source->store = NULL;
}

/* Is somebody there who may know more of unfinished runs than the store? */
static bool has_engine(const struct run_source *source)
{
    return source->client || source->silent || store_has_writer(source->store);
}

/* The next engine will write the same of it; until then nobody else does. */
static void mark_lost(const struct run_source *source, json_t *run)
{
    const enum run_status status =
        run_status_find(json_string_value(json_object_get(run, "status")));
    if (!run_status_is_live(status) || has_engine(source))
        return;
    bool waited = status == RUN_QUEUED && !json_is_number(json_object_get(run, "started_at"));
    /* Without memory for it the run looks as it was kept. */
    json_object_set_new(run, "status", json_string(run_status_name(RUN_INTERRUPTED)));
    json_object_set_new(run, "error", json_string(waited ? STORE_LOST_WAITING : STORE_LOST));
}

static bool numbers_of(const json_t *runs, json_t **numbers, struct error *err)
{
    size_t index;
    json_t *run;
    *numbers = json_array();
    bool ok = *numbers != NULL;
    json_array_foreach(runs, index, run)
    {
        ok = ok && json_array_append_new(*numbers, json_integer(member_integer(run, "run"))) == 0;
    }
    return ok || error_memory(err, "runs");
}

/* What the store has of the runs that the engine does not know better, at the end of `list`. */
static bool append_kept(struct run_source *source, const struct store_filter *filter, json_t *list,
                        struct error *err)
{
    struct store_filter kept_filter = *filter;
    json_t *kept = NULL, *known = NULL;
    size_t index;
    json_t *run;
    kept_filter.interrupted = !has_engine(source);
    bool ok = numbers_of(list, &known, err);
    kept_filter.without = known;
    ok = ok && store_list(source->store, &kept_filter, false, &kept, err);
    json_array_foreach(kept, index, run)
    {
        mark_lost(source, run);
    }
    ok = ok && (json_array_extend(list, kept) == 0 || error_memory(err, "runs"));
    json_decref(known);
    json_decref(kept);
    return ok;
}

/* The newest runs of all are the newest of both; any others may be anywhere. */
static json_t *wanted(const struct store_filter *filter)
{
    return filter->limit > 0 && !filter->sort && !store_filter_has_conditions(filter)
               ? json_pack("{s:I}", "limit", (json_int_t)filter->limit)
               : NULL;
}

bool run_source_list(struct run_source *source, const struct store_filter *filter, json_t **runs,
                     struct error *err)
{
    json_t *all = NULL;
    /* The engine first: what it knows then, the store does not know better. */
    bool ok = ask(source, "runs", wanted(filter), &all, err);
    if (ok && !all && !(all = json_array()))
        ok = error_memory(err, "runs");
    if (ok && source->store)
        ok = append_kept(source, filter, all, err);
    for (size_t i = ok ? json_array_size(all) : 0; i-- > 0;)
        if (!run_pick_matches(json_array_get(all, i), filter))
            json_array_remove(all, i);
    if (ok && run_pick_sort(all, filter, err)) {
        *runs = all;
        return true;
    }
    json_decref(all);
    return false;
}

void run_source_complain(struct run_source *source)
{
    struct error ignored = ERROR_INIT;
    json_t *status = NULL;
    char text[700];
    if (source->unread.kind != ERROR_NONE) {
        print_to(stderr, "dpartui: only the engine's runs: %s\n", source->unread.text);
    } else if (source->store && store_list_unread(source->store, text, sizeof text)) {
        print_to(stderr, "dpartui: %s\n", text);
    } else if (ask(source, "status", NULL, &status, &ignored)) {
        const char *trouble = json_string_value(json_object_get(status, "store"));
        if (trouble)
            print_to(stderr, "dpartui: %s\n", trouble);
    }
    json_decref(status);
}

bool run_source_any(struct run_source *source, bool *any, struct error *err)
{
    json_t *live = NULL;
    *any = false;
    if (!ask(source, "runs", NULL, &live, err))
        return false;
    *any = json_array_size(live) > 0;
    json_decref(live);
    return *any || !source->store || store_has_runs(source->store, any, err);
}

/* An engine that stores nothing gives numbers that the store has for other runs. */
static bool is_same_run(const json_t *a, const json_t *b)
{
    double when = json_number_value(json_object_get(a, "submitted_at"));
    return member_integer(a, "run") == member_integer(b, "run") &&
           fabs(when - json_number_value(json_object_get(b, "submitted_at"))) < 1e-3;
}

/* Of a run whose answer is thinned: has the store more epochs? Then what it lacks itself is all
 * that is missing. */
static bool has_more_epochs(json_t *run, size_t live, const json_t *kept)
{
    const json_t *thinned = json_object_get(kept, "thinned");
    json_int_t done = member_integer(run, "epochs_done");
    json_int_t missing = member_integer(thinned, "of") - member_integer(thinned, "kept");
    if (!json_object_get(run, "thinned") ||
        member_integer(kept, "epochs_done") - missing <= (json_int_t)live)
        return false;
    json_object_del(run, "thinned");
    if (missing > 0)
        json_object_set_new(run, "thinned",
                            json_pack("{s:I, s:I}", "kept", done - missing, "of", done));
    return true;
}

/* What did not fit into the engine's answer, or only the store has. */
static void fill_in(struct run_view *view, struct store *store, json_t *kept)
{
    view->store = store;
    view->fills_in = has_more_epochs(view->head, json_array_size(view->live[STORE_EPOCHS]), kept);
    json_object_del(kept, "thinned");
    /* Without memory for it, less is shown. */
    json_object_update_missing(view->head, kept);
}

/* Takes over `live` and `kept`, of which one may be NULL. */
static void make_view(struct run_source *source, json_t *live, json_t *kept, struct run_view *view)
{
    if (!live) {
        *view = (struct run_view){.head = kept, .store = source->store};
        return;
    }
    run_view_take(view, live);
    if (kept && is_same_run(live, kept))
        fill_in(view, source->store, kept);
    json_decref(kept);
}

bool run_source_view(struct run_source *source, long number, struct run_view *view,
                     struct error *err)
{
    json_t *live = NULL, *kept = NULL;
    bool ok = ask(source, "show", json_pack("{s:I}", "run", (json_int_t)number), &live, err);
    if (!ok && err->kind != ERROR_ABSENT)
        return false;
    *err = (struct error)ERROR_INIT;
    if (source->store && !store_head(source->store, number, &kept, err) &&
        err->kind != ERROR_ABSENT) {
        json_decref(live);
        return false;
    }
    *err = (struct error)ERROR_INIT;
    if (kept)
        mark_lost(source, kept);
    if (!live && !kept)
        return error_set(err, ERROR_ABSENT, "there is no run %ld", number);
    make_view(source, live, kept, view);
    return true;
}

/* All rows of one kind as a member of the run. */
static bool put_rows(const struct run_view *view, enum store_rows kind, struct error *err)
{
    struct run_rows rows;
    json_t *list = json_array();
    if (json_object_set_new(view->head, store_rows_name(kind), list) != 0)
        return error_memory(err, "run");
    bool ok = true;
    run_rows_open(&rows, view, kind);
    while (ok && run_rows_next(&rows))
        ok = json_array_append(list, rows.row) == 0 || error_memory(err, "run");
    return run_rows_close(&rows, err) && ok;
}

bool run_source_show(struct run_source *source, long number, json_t **run, struct error *err)
{
    struct run_view view;
    if (!run_source_view(source, number, &view, err))
        return false;
    bool ok = put_rows(&view, STORE_EPOCHS, err) && put_rows(&view, STORE_POINTS, err);
    if (ok)
        *run = json_incref(view.head);
    run_view_free(&view);
    return ok;
}
