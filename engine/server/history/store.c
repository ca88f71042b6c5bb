/* SPDX-License-Identifier: MIT */
#include "engine/server/history/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "store/replace.h"
#include "store/rescue/copy.h"
#include "store/rescue/reserve.h"
#include "store/write.h"

void history_store_begin(struct history_store *store, struct store *writer, struct engine_log *log)
{
    *store = (struct history_store){.log = log, .writer = writer};
    pthread_mutex_init(&store->reading, NULL);
    pthread_mutex_init(&store->owning, NULL);
    history_inspection_init(&store->inspection, log);
}

void history_store_end(struct history_store *store)
{
    if (!store->writer)
        return;
    history_inspection_stop(&store->inspection);
    store_close(store->reader);
    store_close(store->writer);
    pthread_mutex_destroy(&store->reading);
    pthread_mutex_destroy(&store->owning);
    history_inspection_free(&store->inspection);
}

void history_store_inspect(struct history_store *store)
{
    history_inspection_start(&store->inspection, store_path(store->writer));
}

/* Once, for the log, for viewers and for the running run. */
static void report(struct history_store *store)
{
    char text[HISTORY_NOTICE];
    if (store->replaced)
        return;
    store->replaced = true;
    snprintf(text, sizeof text,
             "%.500s was removed or replaced while the engine used it: its runs are stored again",
             store_path(store->writer));
    engine_log(store->log, MESSAGE_WARNING, 0, "%s", text);
    pthread_mutex_lock(&store->owning);
    if (store->owner.warn)
        store->owner.warn(store->owner.context, text);
    pthread_mutex_unlock(&store->owning);
}

/* Runs of the engine and those of the file must not share numbers. */
static bool settle_numbers(struct history_store *store, struct store *to, struct error *err)
{
    long last, before;
    if (!store_last_number(to, &last, err) || !store_last_number(store->writer, &before, err))
        return false;
    if (last < before)
        last = before;
    pthread_mutex_lock(&store->owning);
    if (store->owner.raise_number)
        last = store->owner.raise_number(store->owner.context, last);
    pthread_mutex_unlock(&store->owning);
    return store_raise_number(to, last, err);
}

static bool fill(struct history_store *store, struct store *to, struct store_taken *taken,
                 struct error *err)
{
    /* Runs that a backup has as running end here, unless what is taken over overwrites them. */
    return settle_numbers(store, to, err) && store_interrupt(to, STORE_LOST, NULL, err) &&
           store_take_all(to, store->writer, taken, err) &&
           (taken->renumbered == 0 || settle_numbers(store, to, err));
}

/* The previous one is not used from here on. */
static void go_over(struct history_store *store, struct store *to)
{
    pthread_mutex_lock(&store->reading);
    store_close(store->reader);
    store->reader = NULL;
    struct store *before = store->writer;
    store->writer = to;
    pthread_mutex_unlock(&store->reading);
    store_close(before);
    store->replaced = store->reserved = false;
    store->renewed = true;
}

static void report_renumbered(struct history_store *store, const struct store_taken *taken)
{
    if (taken->renumbered > 0)
        engine_log(
            store->log, MESSAGE_WARNING, 0,
            "%s: %ld run%s renumbered, from %ld on: this engine has runs of the same numbers",
            store_path(store->writer), taken->renumbered, plural_are(taken->renumbered),
            taken->first_number);
}

static void report_renewed(struct history_store *store, const char *notice,
                           const struct store_taken *taken)
{
    const char *path = store_path(store->writer);
    if (*notice)
        engine_log(store->log, MESSAGE_ERROR, 0, "%s", notice);
    engine_log(store->log, MESSAGE_INFO, 0, "%s: %ld run%s stored there again", path, taken->runs,
               plural_are(taken->runs));
    report_renumbered(store, taken);
    if (taken->unread > 0)
        engine_log(store->log, MESSAGE_ERROR, 0,
                   "%s: %ld run%s lost: the store before it cannot be read there", path,
                   taken->unread, plural_are(taken->unread));
}

bool history_store_check(struct history_store *store, struct error *err)
{
    char notice[HISTORY_NOTICE];
    struct store *to = NULL;
    struct store_taken taken;
    if (!store_is_replaced(store->writer))
        return store_renew_lock(store->writer, &store->renewed, err);
    report(store);
    /* It is of the file before, and reads its log. */
    history_inspection_stop(&store->inspection);
    if (!store_open_again(store->writer, &to, notice, sizeof notice, err))
        return false;
    if (!fill(store, to, &taken, err)) {
        store_close(to);
        return false;
    }
    go_over(store, to);
    report_renewed(store, notice, &taken);
    history_store_inspect(store);
    return true;
}

/* Give runs of the file that have numbers of ours new ones, higher than the owner has given. */
static bool make_way(struct history_store *store, const struct store_work_list *states,
                     struct error *err)
{
    struct store_taken taken = {0};
    bool ok = store_work_make_way(store->writer, states, &taken, err);
    /* Those before a failure have theirs. */
    report_renumbered(store, &taken);
    store->unsettled |= taken.renumbered > 0;
    if (store->unsettled && ok)
        store->unsettled = !settle_numbers(store, store->writer, err);
    return ok && !store->unsettled;
}

bool history_store_write(struct history_store *store, const struct backlog *backlog,
                         enum backlog_part part, struct error *err)
{
    if (backlog_is_empty(backlog))
        return true;
    if (store->renewed && !make_way(store, &backlog->states, err))
        return false;
    if (!backlog_write(backlog, part, store->writer, err))
        return false;
    if (part != BACKLOG_ALL)
        return true;
    store->ends = store->runs = 0;
    if (!store->reserved)
        store_reserve_make(store_path(store->writer));
    store->reserved = true;
    return true;
}

void history_store_tell_deleted(struct history_store *store, const struct backlog *written)
{
    struct error err = ERROR_INIT;
    bool synced = false;
    for (const struct store_work *work = written->work.first; work; work = work->next) {
        if (work->kind != WORK_DELETE)
            continue;
        if (!synced && !store_sync(store->writer, &err)) {
            engine_log(store->log, MESSAGE_WARNING, work->run,
                       "%s; the next engine removes checkpoints of deleted runs", err.text);
            return;
        }
        synced = true;
        pthread_mutex_lock(&store->owning);
        if (store->owner.deleted)
            store->owner.deleted(store->owner.context, work->run);
        pthread_mutex_unlock(&store->owning);
    }
}

void history_store_write_least(struct history_store *store, const struct backlog *backlog,
                               enum backlog_part part)
{
    struct error ignored = ERROR_INIT;
    long ends = backlog_ends(backlog), runs = backlog->states.count;
    if (part != BACKLOG_ENDS && ends <= store->ends && runs <= store->runs)
        return;
    bool ok = history_store_write(store, backlog, part, &ignored);
    if (!ok && ends > store->ends && store_reserve_release(store_path(store->writer))) {
        store->reserved = false;
        ok = history_store_write(store, backlog, part, &ignored);
    }
    if (ok) {
        store->ends = ends;
        store->runs = runs;
    }
}

/* With the readers' lock. What is at the path now may have to be repaired first; what was there is
 * still open. */
static bool is_readable(const struct history_store *store, struct error *err)
{
    return !store_has_left_path(store->writer) ||
           error_set(err, ERROR_FAILED, "%s: was just removed or replaced: try again",
                     store_path(store->writer));
}

struct store *history_store_read(struct history_store *store, struct error *err)
{
    pthread_mutex_lock(&store->reading);
    if (store->reader || (is_readable(store, err) &&
                          store_open_reading(store_path(store->writer), &store->reader, err)))
        return store->reader;
    pthread_mutex_unlock(&store->reading);
    return NULL;
}

void history_store_release(struct history_store *store)
{
    pthread_mutex_unlock(&store->reading);
}

bool history_store_open_reading(struct history_store *store, struct store **out, struct error *err)
{
    pthread_mutex_lock(&store->reading);
    bool ok = is_readable(store, err);
    char *path = ok ? strdup(store_path(store->writer)) : NULL;
    pthread_mutex_unlock(&store->reading);
    ok = ok && (path ? store_open_reading(path, out, err) : error_memory(err, "run store"));
    free(path);
    return ok;
}
