/* SPDX-License-Identifier: MIT */
#include "engine/server/history/writer.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "base/text.h"
#include "engine/server/history/backlog.h"
#include "engine/server/history/flush.h"
#include "engine/server/history/open.h"
#include "engine/server/history/store.h"
#include "store/kept_epochs.h"
#include "store/read.h"
#include "store/store.h"
#include "store/write.h"

/* Pauses between writing, and after a failure, in seconds. */
#define PAUSE_S 0.05
#define RETRY_S 2.0

/* How often, in seconds, an idle writer looks whether the store is still the one at its path. */
#define LOOK_S 1.0

struct history {
    struct engine_log *log;
    struct history_store store;
    char *path;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t wake;
    struct backlog waiting;
    long no_memory; /* events that there was no memory for */
    struct flush flush;
    int begun; /* by history_begin */
    bool leaving, ended;
};

static bool has_work(const struct history *history)
{
    return !backlog_is_empty(&history->waiting) || flush_pending(&history->flush);
}

/* With the lock held: sleep until there is work, the end is near, or `seconds` are over. */
static void sleep_until_wanted(struct history *history, double seconds, bool for_work)
{
    struct timespec deadline = deadline_after(seconds);
    while (!history->leaving && !(for_work && has_work(history)) && !flush_pending(&history->flush))
        if (pthread_cond_timedwait(&history->wake, &history->lock, &deadline) == ETIMEDOUT)
            break;
}

static void report_state(struct history *history, bool ok, bool was_failing,
                         const struct error *err)
{
    if (!ok && !was_failing)
        engine_log(history->log, MESSAGE_ERROR, 0,
                   "%s; runs continue and are stored once writing works again", err->text);
    if (ok && was_failing)
        engine_log(history->log, MESSAGE_INFO, 0, "%s: runs are kept again", history->path);
}

static void report_losses(struct history *history, const struct backlog *written, long no_memory)
{
    long lost = written->lost + no_memory;
    if (written->thinned > 0)
        engine_log(history->log, MESSAGE_WARNING, 0,
                   "%s: %ld epoch%s left out, too many waited to be written: the first, the "
                   "last, the best and every %ldth are kept",
                   history->path, written->thinned, plural_are(written->thinned), written->stride);
    if (lost > 0)
        engine_log(history->log, MESSAGE_ERROR, 0,
                   "%s: %ld event%s lost: too many waited to be written", history->path, lost,
                   plural_are(lost));
}

/* Called and returns with the lock held, which is released meanwhile. False: it could not. */
static bool write_out(struct history *history, bool was_failing)
{
    struct error err = ERROR_INIT;
    /* First: runs that are handed over later have numbers that are free in the store. */
    pthread_mutex_unlock(&history->lock);
    bool ready = history_store_check(&history->store, &err);
    pthread_mutex_lock(&history->lock);
    while (history->begun > 0)
        pthread_cond_wait(&history->wake, &history->lock);
    struct backlog taken = history->waiting;
    long no_memory = history->no_memory;
    enum backlog_part least = history->leaving ? BACKLOG_ENDS : BACKLOG_STATES;
    history->waiting = (struct backlog){.stride = 0};
    history->no_memory = 0;
    uint64_t asked = history->flush.asked;
    bool sync = flush_pending(&history->flush);
    pthread_mutex_unlock(&history->lock);
    bool ok = ready && history_store_write(&history->store, &taken, BACKLOG_ALL, &err);
    report_state(history, ok, was_failing, &err);
    if (ok) {
        report_losses(history, &taken, no_memory);
        /* What is committed stays so, also if it cannot be synced. */
        if (sync)
            store_sync(history->store.writer, &err);
    } else if (ready) {
        history_store_write_least(&history->store, &taken, least);
    }
    pthread_mutex_lock(&history->lock);
    if (!ok) {
        history->no_memory += no_memory;
        backlog_return(&history->waiting, &taken);
    }
    flush_answer(&history->flush, asked, &err);
    pthread_mutex_unlock(&history->lock);
    history_store_tell_deleted(&history->store, &taken);
    backlog_clear(&taken);
    pthread_mutex_lock(&history->lock);
    return ok;
}

static void *writer_main(void *context)
{
    struct history *history = context;
    bool ok = true;
    history_store_inspect(&history->store);
    pthread_mutex_lock(&history->lock);
    while (!history->leaving) {
        sleep_until_wanted(history, LOOK_S, true);
        ok = write_out(history, !ok);
        sleep_until_wanted(history, ok ? PAUSE_S : RETRY_S, false);
    }
    if (!write_out(history, !ok))
        engine_log(history->log, MESSAGE_ERROR, 0,
                   "%s: could not be written until the engine ended: what runs did last is lost",
                   history->path);
    history->ended = true;
    struct error end = ERROR_INIT;
    error_set(&end, ERROR_FAILED, "%s: is closed: the engine ends", history->path);
    flush_answer(&history->flush, history->flush.asked, &end);
    pthread_cond_broadcast(&history->wake);
    pthread_mutex_unlock(&history->lock);
    return NULL;
}

/* Consumes `work`, which is NULL when memory ran out. */
static void hand_over(struct history *history, struct store_work *work)
{
    pthread_mutex_lock(&history->lock);
    if (work)
        backlog_add(&history->waiting, work);
    else
        history->no_memory++;
    pthread_cond_signal(&history->wake);
    pthread_mutex_unlock(&history->lock);
}

static void count_begun(struct history *history, int by)
{
    if (!history)
        return;
    pthread_mutex_lock(&history->lock);
    history->begun += by;
    if (history->begun == 0)
        pthread_cond_broadcast(&history->wake);
    pthread_mutex_unlock(&history->lock);
}

void history_begin(struct history *history)
{
    count_begun(history, 1);
}

void history_end(struct history *history)
{
    count_begun(history, -1);
}

/* Takes over what `like` points at; `complete`: memory did not run out for it. */
static void hand_over_copy(struct history *history, const struct store_work *like, bool complete)
{
    struct store_work *work = history && complete ? malloc(sizeof *work) : NULL;
    if (work) {
        *work = *like;
    } else {
        json_decref(like->json);
        json_decref(like->spec);
        json_decref(like->environment);
        free(like->text);
    }
    if (history)
        hand_over(history, work);
}

static void hand_over_json(struct history *history, enum store_work_kind kind, long run,
                           json_t *json)
{
    hand_over_copy(history, &(struct store_work){.kind = kind, .run = run, .json = json}, json);
}

void history_put_run(struct history *history, json_t *object, json_t *spec, json_t *environment)
{
    const struct store_work like = {
        .kind = WORK_RUN, .json = object, .spec = spec, .environment = environment};
    hand_over_copy(history, &like, object);
}

void history_add_point(struct history *history, long run, json_t *point)
{
    hand_over_json(history, WORK_POINT, run, point);
}

void history_set_points(struct history *history, long run, json_t *points)
{
    hand_over_json(history, WORK_POINTS, run, points);
}

void history_set_tags(struct history *history, long run, json_t *tags)
{
    hand_over_json(history, WORK_TAGS, run, tags);
}

void history_delete(struct history *history, long run)
{
    hand_over_json(history, WORK_DELETE, run, json_true());
}

static void add_text(struct history *history, struct store_work like, const char *text)
{
    if (!history)
        return;
    like.text = strdup(text);
    hand_over_copy(history, &like, like.text);
}

void history_add_event(struct history *history, long run, const char *name, const char *text)
{
    add_text(history, (struct store_work){.kind = WORK_EVENT, .run = run, .name = name}, text);
}

void history_add_epoch(struct history *history, long run, long epoch, double score,
                       const char *text)
{
    const struct store_work like = {
        .kind = WORK_EPOCH, .run = run, .name = "epoch", .epoch = epoch, .score = score};
    add_text(history, like, text);
}

void history_rewind(struct history *history, long run, long steps)
{
    const struct store_work like = {.kind = WORK_REWIND, .run = run, .steps = steps};
    hand_over_copy(history, &like, true);
}

bool history_sync(struct history *history, double seconds, struct error *err)
{
    if (!history)
        return true;
    pthread_mutex_lock(&history->lock);
    pthread_cond_broadcast(&history->wake);
    bool ok = flush_wait(&history->flush, &history->lock, seconds, err);
    pthread_mutex_unlock(&history->lock);
    return ok || error_prefix(err, "%s", history->path);
}

bool history_show(struct history *history, long run, json_t **object, struct error *err)
{
    if (!history)
        return error_set(err, ERROR_ABSENT, "no runs are kept");
    struct store *store = history_store_read(&history->store, err);
    bool ok = store && store_head(store, run, object, err);
    if (store)
        history_store_release(&history->store);
    return ok;
}

bool history_read(struct history *history, long run, long most, json_t **events, json_t **points,
                  struct error *err)
{
    struct store *store = NULL;
    if (!history)
        return error_set(err, ERROR_ABSENT, "no runs are kept");
    /* Not the reader of history_show, which others may want meanwhile. */
    if (!history_store_open_reading(&history->store, &store, err))
        return false;
    bool ok = store_events_thinned(store, run, most, events, err);
    if (ok && !store_points(store, run, points, err)) {
        json_decref(*events);
        ok = false;
    }
    store_close(store);
    return ok;
}

void history_set_owner(struct history *history, const struct history_owner *owner)
{
    if (!history)
        return;
    pthread_mutex_lock(&history->store.owning);
    history->store.owner = owner ? *owner : (struct history_owner){.context = NULL};
    pthread_mutex_unlock(&history->store.owning);
}

void history_take_notice(struct history *history, char *notice)
{
    if (history)
        history_inspection_take_notice(&history->store.inspection, notice);
}

static bool open_store(struct history *history, struct stored_runs *past, struct error *err)
{
    struct store *writer;
    bool ok = history_open(history->path, history->log, &writer, past, err);
    if (writer)
        history_store_begin(&history->store, writer, history->log);
    return ok;
}

static bool start_thread(struct history *history, struct error *err)
{
    if (!flush_init(&history->flush, err))
        return false;
    pthread_mutex_init(&history->lock, NULL);
    errno = deadline_cond_init(&history->wake);
    if (errno == 0) {
        errno = pthread_create(&history->thread, NULL, writer_main, history);
        if (errno == 0)
            return true;
        pthread_cond_destroy(&history->wake);
    }
    pthread_mutex_destroy(&history->lock);
    flush_free(&history->flush);
    return error_errno(err, "cannot start the thread that keeps runs");
}

void history_refuse(const char *reason, struct engine_log *log, struct stored_runs *past)
{
    snprintf(past->trouble, sizeof past->trouble,
             "%.560s; the runs of this engine are lost when it ends", reason);
    engine_log(log, MESSAGE_ERROR, 0, "%s", past->trouble);
    snprintf(past->notice, sizeof past->notice, "this run is not kept, nor are checkpoints: %s",
             reason);
}

void history_start(const char *path, struct engine_log *log, struct history **out,
                   struct stored_runs *past)
{
    struct error err = ERROR_INIT;
    struct history *history = calloc(1, sizeof *history);
    *out = NULL;
    *past = (struct stored_runs){.last_number = 0};
    if (history)
        *history = (struct history){.log = log, .path = strdup(path)};
    bool ok = history && history->path
                  ? open_store(history, past, &err) && start_thread(history, &err)
                  : error_memory(&err, path);
    if (ok) {
        *out = history;
        return;
    }
    history_refuse(err.text, log, past);
    if (history) {
        history_store_end(&history->store);
        free(history->path);
    }
    free(history);
}

void history_finish(struct history *history, double seconds)
{
    if (!history)
        return;
    struct timespec deadline = deadline_after(seconds);
    pthread_mutex_lock(&history->lock);
    history->leaving = true;
    pthread_cond_broadcast(&history->wake);
    while (!history->ended &&
           pthread_cond_timedwait(&history->wake, &history->lock, &deadline) != ETIMEDOUT)
        ;
    pthread_mutex_unlock(&history->lock);
}

void history_stop(struct history *history)
{
    if (!history)
        return;
    history_finish(history, 0);
    pthread_join(history->thread, NULL);
    backlog_clear(&history->waiting);
    history_store_end(&history->store);
    pthread_cond_destroy(&history->wake);
    pthread_mutex_destroy(&history->lock);
    flush_free(&history->flush);
    free(history->path);
    free(history);
}
