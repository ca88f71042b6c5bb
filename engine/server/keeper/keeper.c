/* SPDX-License-Identifier: MIT */
#include "engine/server/keeper/keeper.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "engine/server/keeper/backlog.h"
#include "engine/server/keeper/barrier.h"
#include "engine/server/keeper/open.h"
#include "engine/server/keeper/store.h"
#include "store/kept_epochs.h"
#include "store/store.h"

/* Pauses between writing, and after a failure, in seconds. */
#define PAUSE_S 0.05
#define RETRY_S 2.0

/* How often, in seconds, an idle keeper looks whether the store is still the one at its path. */
#define LOOK_S 1.0

struct keeper {
    struct engine_log *log;
    struct keeper_store store;
    char *path;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t wake;
    struct backlog waiting;
    long no_memory; /* events that there was no memory for */
    struct barrier barrier;
    int begun; /* by keeper_begin */
    bool leaving, ended;
};

static bool has_work(const struct keeper *keeper)
{
    return !backlog_is_empty(&keeper->waiting) || barrier_pending(&keeper->barrier);
}

/* With the lock held: sleep until there is work, the end is near, or `seconds` are over. */
static void sleep_until_wanted(struct keeper *keeper, double seconds, bool for_work)
{
    struct timespec deadline = deadline_after(seconds);
    while (!keeper->leaving && !(for_work && has_work(keeper)) &&
           !barrier_pending(&keeper->barrier))
        if (pthread_cond_timedwait(&keeper->wake, &keeper->lock, &deadline) == ETIMEDOUT)
            break;
}

static void report_state(struct keeper *keeper, bool ok, bool was_failing, const struct error *err)
{
    if (!ok && !was_failing)
        engine_log(keeper->log, MESSAGE_ERROR, 0,
                   "%s; runs continue and are stored once writing works again", err->text);
    if (ok && was_failing)
        engine_log(keeper->log, MESSAGE_INFO, 0, "%s: runs are kept again", keeper->path);
}

static void report_losses(struct keeper *keeper, const struct backlog *written, long no_memory)
{
    long lost = written->lost + no_memory;
    if (written->thinned > 0)
        engine_log(keeper->log, MESSAGE_WARNING, 0,
                   "%s: %ld epochs are left out, too many waited to be written: the first, the "
                   "last, the best and every %ldth are kept",
                   keeper->path, written->thinned, written->stride);
    if (lost > 0)
        engine_log(keeper->log, MESSAGE_ERROR, 0,
                   "%s: %ld events are lost: too many waited to be written", keeper->path, lost);
}

/* Called and returns with the lock held, which is released meanwhile. False: it could not. */
static bool write_out(struct keeper *keeper, bool was_failing)
{
    struct error err = ERROR_INIT;
    /* First: runs that are handed over later have numbers that are free in the store. */
    pthread_mutex_unlock(&keeper->lock);
    bool ready = keeper_store_check(&keeper->store, &err);
    pthread_mutex_lock(&keeper->lock);
    while (keeper->begun > 0)
        pthread_cond_wait(&keeper->wake, &keeper->lock);
    struct backlog taken = keeper->waiting;
    long no_memory = keeper->no_memory;
    enum backlog_part least = keeper->leaving ? BACKLOG_ENDS : BACKLOG_STATES;
    keeper->waiting = (struct backlog){.stride = 0};
    keeper->no_memory = 0;
    uint64_t asked = keeper->barrier.asked;
    bool sync = barrier_pending(&keeper->barrier);
    pthread_mutex_unlock(&keeper->lock);
    bool ok = ready && keeper_store_write(&keeper->store, &taken, BACKLOG_ALL, &err);
    report_state(keeper, ok, was_failing, &err);
    if (ok) {
        report_losses(keeper, &taken, no_memory);
        backlog_clear(&taken);
        /* What is committed stays so, also if it cannot be synced. */
        if (sync)
            store_sync(keeper->store.writer, &err);
    } else if (ready) {
        keeper_store_write_least(&keeper->store, &taken, least);
    }
    pthread_mutex_lock(&keeper->lock);
    if (!ok) {
        keeper->no_memory += no_memory;
        backlog_return(&keeper->waiting, &taken);
    }
    barrier_answer(&keeper->barrier, asked, &err);
    return ok;
}

static void *keep_for_ever(void *context)
{
    struct keeper *keeper = context;
    bool ok = true;
    keeper_store_inspect(&keeper->store);
    pthread_mutex_lock(&keeper->lock);
    while (!keeper->leaving) {
        sleep_until_wanted(keeper, LOOK_S, true);
        ok = write_out(keeper, !ok);
        sleep_until_wanted(keeper, ok ? PAUSE_S : RETRY_S, false);
    }
    if (!write_out(keeper, !ok))
        engine_log(keeper->log, MESSAGE_ERROR, 0,
                   "%s: could not be written until the engine ended: what runs did last is lost",
                   keeper->path);
    keeper->ended = true;
    struct error end = ERROR_INIT;
    error_set(&end, ERROR_FAILED, "%s: is closed: the engine ends", keeper->path);
    barrier_answer(&keeper->barrier, keeper->barrier.asked, &end);
    pthread_cond_broadcast(&keeper->wake);
    pthread_mutex_unlock(&keeper->lock);
    return NULL;
}

/* Consumes `work`, which is NULL when memory ran out. */
static void hand_over(struct keeper *keeper, struct store_work *work)
{
    pthread_mutex_lock(&keeper->lock);
    if (work)
        backlog_add(&keeper->waiting, work);
    else
        keeper->no_memory++;
    pthread_cond_signal(&keeper->wake);
    pthread_mutex_unlock(&keeper->lock);
}

static void count_begun(struct keeper *keeper, int by)
{
    if (!keeper)
        return;
    pthread_mutex_lock(&keeper->lock);
    keeper->begun += by;
    if (keeper->begun == 0)
        pthread_cond_broadcast(&keeper->wake);
    pthread_mutex_unlock(&keeper->lock);
}

void keeper_begin(struct keeper *keeper)
{
    count_begun(keeper, 1);
}

void keeper_end(struct keeper *keeper)
{
    count_begun(keeper, -1);
}

/* Takes over the JSON. */
static void hand_over_json(struct keeper *keeper, enum store_work_kind kind, long run, json_t *json)
{
    struct store_work *work = keeper && json ? calloc(1, sizeof *work) : NULL;
    if (work)
        *work = (struct store_work){.kind = kind, .run = run, .json = json};
    else
        json_decref(json);
    if (keeper)
        hand_over(keeper, work);
}

void keeper_put_run(struct keeper *keeper, json_t *object, json_t *spec, json_t *environment)
{
    struct store_work *work = keeper && object ? calloc(1, sizeof *work) : NULL;
    if (work) {
        *work = (struct store_work){
            .kind = WORK_RUN, .json = object, .spec = spec, .environment = environment};
    } else {
        json_decref(object);
        json_decref(spec);
        json_decref(environment);
    }
    if (keeper)
        hand_over(keeper, work);
}

void keeper_add_point(struct keeper *keeper, long run, json_t *point)
{
    hand_over_json(keeper, WORK_POINT, run, point);
}

void keeper_set_points(struct keeper *keeper, long run, json_t *points)
{
    hand_over_json(keeper, WORK_POINTS, run, points);
}

void keeper_set_tags(struct keeper *keeper, long run, json_t *tags)
{
    hand_over_json(keeper, WORK_TAGS, run, tags);
}

void keeper_delete(struct keeper *keeper, long run)
{
    hand_over_json(keeper, WORK_DELETE, run, json_true());
}

static void add_text(struct keeper *keeper, const struct store_work *like, const char *text)
{
    struct store_work *work = calloc(1, sizeof *work);
    if (work) {
        *work = *like;
        work->text = strdup(text);
    }
    if (work && !work->text) {
        store_work_free(work);
        work = NULL;
    }
    hand_over(keeper, work);
}

void keeper_add_event(struct keeper *keeper, long run, const char *name, const char *text)
{
    const struct store_work like = {.kind = WORK_EVENT, .run = run, .name = name};
    if (keeper)
        add_text(keeper, &like, text);
}

void keeper_add_epoch(struct keeper *keeper, long run, long epoch, double score, const char *text)
{
    const struct store_work like = {
        .kind = WORK_EPOCH, .run = run, .name = "epoch", .epoch = epoch, .score = score};
    if (keeper)
        add_text(keeper, &like, text);
}

void keeper_rewind(struct keeper *keeper, long run, long steps)
{
    struct store_work *work = keeper ? calloc(1, sizeof *work) : NULL;
    if (work)
        *work = (struct store_work){.kind = WORK_REWIND, .run = run, .steps = steps};
    if (keeper)
        hand_over(keeper, work);
}

bool keeper_sync(struct keeper *keeper, double seconds, struct error *err)
{
    if (!keeper)
        return true;
    pthread_mutex_lock(&keeper->lock);
    pthread_cond_broadcast(&keeper->wake);
    bool ok = barrier_wait(&keeper->barrier, &keeper->lock, seconds, err);
    pthread_mutex_unlock(&keeper->lock);
    return ok || error_prefix(err, "%s", keeper->path);
}

bool keeper_show(struct keeper *keeper, long run, json_t **object, struct error *err)
{
    if (!keeper)
        return error_set(err, ERROR_ABSENT, "no runs are kept");
    struct store *store = keeper_store_read(&keeper->store, err);
    bool ok = store && store_head(store, run, object, err);
    if (store)
        keeper_store_release(&keeper->store);
    return ok;
}

bool keeper_read(struct keeper *keeper, long run, long most, json_t **events, json_t **points,
                 struct error *err)
{
    struct store *store = NULL;
    if (!keeper)
        return error_set(err, ERROR_ABSENT, "no runs are kept");
    /* Not the reader of keeper_show, which others may want meanwhile. */
    if (!keeper_store_open_reading(&keeper->store, &store, err))
        return false;
    bool ok = store_events_thinned(store, run, most, events, err);
    if (ok && !store_points(store, run, points, err)) {
        json_decref(*events);
        ok = false;
    }
    store_close(store);
    return ok;
}

void keeper_set_owner(struct keeper *keeper, const struct keeper_owner *owner)
{
    if (!keeper)
        return;
    pthread_mutex_lock(&keeper->store.owning);
    keeper->store.owner = owner ? *owner : (struct keeper_owner){.context = NULL};
    pthread_mutex_unlock(&keeper->store.owning);
}

void keeper_take_notice(struct keeper *keeper, char *notice)
{
    if (keeper)
        keeper_inspection_take_notice(&keeper->store.inspection, notice);
}

static bool open_store(struct keeper *keeper, struct keeper_past *past, struct error *err)
{
    struct store *writer;
    bool ok = keeper_open(keeper->path, keeper->log, &writer, past, err);
    if (writer)
        keeper_store_begin(&keeper->store, writer, keeper->log);
    return ok;
}

static bool start_thread(struct keeper *keeper, struct error *err)
{
    if (!barrier_init(&keeper->barrier, err))
        return false;
    pthread_mutex_init(&keeper->lock, NULL);
    errno = deadline_cond_init(&keeper->wake);
    if (errno == 0) {
        errno = pthread_create(&keeper->thread, NULL, keep_for_ever, keeper);
        if (errno == 0)
            return true;
        pthread_cond_destroy(&keeper->wake);
    }
    pthread_mutex_destroy(&keeper->lock);
    barrier_free(&keeper->barrier);
    return error_errno(err, "cannot start the thread that keeps runs");
}

void keeper_refuse(const char *reason, struct engine_log *log, struct keeper_past *past)
{
    engine_log(log, MESSAGE_ERROR, 0, "%s; the runs of this engine are lost when it ends", reason);
    snprintf(past->notice, sizeof past->notice, "this run is not kept, nor are checkpoints: %s",
             reason);
}

void keeper_start(const char *path, struct engine_log *log, struct keeper **out,
                  struct keeper_past *past)
{
    struct error err = ERROR_INIT;
    struct keeper *keeper = calloc(1, sizeof *keeper);
    *out = NULL;
    *past = (struct keeper_past){.last_number = 0};
    if (keeper) {
        keeper->log = log;
        keeper->path = strdup(path);
    }
    bool ok = keeper && keeper->path ? open_store(keeper, past, &err) && start_thread(keeper, &err)
                                     : error_memory(&err, path);
    if (ok) {
        *out = keeper;
        return;
    }
    keeper_refuse(err.text, log, past);
    if (keeper) {
        keeper_store_end(&keeper->store);
        free(keeper->path);
    }
    free(keeper);
}

void keeper_finish(struct keeper *keeper, double seconds)
{
    if (!keeper)
        return;
    struct timespec deadline = deadline_after(seconds);
    pthread_mutex_lock(&keeper->lock);
    keeper->leaving = true;
    pthread_cond_broadcast(&keeper->wake);
    while (!keeper->ended &&
           pthread_cond_timedwait(&keeper->wake, &keeper->lock, &deadline) != ETIMEDOUT)
        ;
    pthread_mutex_unlock(&keeper->lock);
}

void keeper_stop(struct keeper *keeper)
{
    if (!keeper)
        return;
    keeper_finish(keeper, 0);
    pthread_join(keeper->thread, NULL);
    backlog_clear(&keeper->waiting);
    keeper_store_end(&keeper->store);
    pthread_cond_destroy(&keeper->wake);
    pthread_mutex_destroy(&keeper->lock);
    barrier_free(&keeper->barrier);
    free(keeper->path);
    free(keeper);
}
