/* SPDX-License-Identifier: MIT */
#include "engine/server/keeper.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/store/store.h"
#include "engine/train/deadline.h"

/* Run objects that the engine has at hand; older ones are in the store. */
#define PAST_RUNS 1000
/* Pauses between writing, and after a failure, in seconds. */
#define PAUSE_S 0.05
#define RETRY_S 5.0
/* What may wait for a disk that takes nothing; then the newest is lost. */
#define WAITING_LIMIT 20000

enum work_kind {
    WORK_RUN,
    WORK_EVENT,
    WORK_EVENTS,
    WORK_POINT,
    WORK_POINTS,
    WORK_TAGS,
    WORK_DELETE
};

struct work {
    struct work *next;
    enum work_kind kind;
    long run;
    const char *name;
    char *text;
    json_t *json, *spec, *environment;
};

struct work_list {
    struct work *first, **end;
    long count;
};

struct keeper {
    struct engine_log *log;
    struct store *store;  /* the thread's */
    struct store *reader; /* of the thread that answers viewers; opened when first needed */
    char *path;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t wake;
    struct work_list waiting;
    long writing; /* what the thread has taken and not yet written */
    long lost;    /* handed over while too much waited */
    bool leaving, ended;
};

static void work_free(struct work *work)
{
    json_decref(work->json);
    json_decref(work->spec);
    json_decref(work->environment);
    free(work->text);
    free(work);
}

static void list_add(struct work_list *list, struct work *work)
{
    if (!list->first)
        list->end = &list->first;
    *list->end = work;
    list->end = &work->next;
    list->count++;
}

static struct work *list_take(struct work_list *list)
{
    struct work *work = list->first;
    list->first = work->next;
    list->count--;
    work->next = NULL;
    return work;
}

static bool do_work(struct store *store, const struct work *work, struct error *err)
{
    switch (work->kind) {
    case WORK_RUN:
        return store_put_run(store, work->json, work->spec, work->environment, err);
    case WORK_EVENT:
        return store_add_event(store, work->run, work->name, work->text, err);
    case WORK_EVENTS:
        return store_set_events(store, work->run, work->json, err);
    case WORK_POINT:
        return store_add_point(store, work->run, work->json, err);
    case WORK_POINTS:
        return store_set_points(store, work->run, work->json, err);
    case WORK_TAGS:
        return store_set_tags(store, work->run, work->json, err);
    case WORK_DELETE:
        /* One that never got there is gone as well. */
        return store_delete_run(store, work->run, err) || err->kind == ERROR_ABSENT;
    }
    return true;
}

static bool write_list(struct store *store, const struct work_list *list, struct error *err)
{
    if (!store_begin(store, err))
        return false;
    for (const struct work *work = list->first; work; work = work->next)
        if (!do_work(store, work, err)) {
            store_rollback(store);
            return false;
        }
    return store_commit(store, err);
}

/* With the lock held: sleep until there is work, the end is near, or `seconds` are over. */
static void sleep_until_wanted(struct keeper *keeper, double seconds, bool for_work)
{
    struct timespec deadline = deadline_after(seconds);
    while (!keeper->leaving && !(for_work && keeper->waiting.first))
        if (pthread_cond_timedwait(&keeper->wake, &keeper->lock, &deadline) == ETIMEDOUT)
            break;
}

struct writing {
    struct work_list list; /* what is being written */
    bool failing;          /* has been told */
};

static void tell(struct keeper *keeper, struct writing *w, bool ok, const struct error *err)
{
    if (!ok && !w->failing)
        engine_log(keeper->log, MESSAGE_ERROR, 0,
                   "%s; runs go on and are kept as soon as that is possible", err->text);
    if (ok && w->failing)
        engine_log(keeper->log, MESSAGE_INFO, 0, "%s: runs are kept again", keeper->path);
    w->failing = !ok;
}

/* Called and returns with the lock held, which is released meanwhile. False: it could not. */
static bool write_out(struct keeper *keeper, struct writing *w)
{
    struct error err = ERROR_INIT;
    while (keeper->waiting.first)
        list_add(&w->list, list_take(&keeper->waiting));
    keeper->writing = w->list.count;
    long lost = keeper->lost;
    keeper->lost = 0;
    pthread_mutex_unlock(&keeper->lock);
    if (lost > 0)
        engine_log(keeper->log, MESSAGE_ERROR, 0,
                   "%s: %ld events are lost: too many wait to be written", keeper->path, lost);
    bool ok = write_list(keeper->store, &w->list, &err);
    tell(keeper, w, ok, &err);
    while (ok && w->list.first)
        work_free(list_take(&w->list));
    pthread_mutex_lock(&keeper->lock);
    keeper->writing = w->list.count;
    return ok;
}

static void *keep_for_ever(void *context)
{
    struct keeper *keeper = context;
    struct writing w = {.failing = false};
    pthread_mutex_lock(&keeper->lock);
    while (!keeper->leaving) {
        if (!w.list.first)
            sleep_until_wanted(keeper, 3600, true);
        if (!keeper->waiting.first && !w.list.first)
            continue;
        bool ok = write_out(keeper, &w);
        sleep_until_wanted(keeper, ok ? PAUSE_S : RETRY_S, false);
    }
    if (keeper->waiting.first || w.list.first)
        write_out(keeper, &w);
    keeper->ended = true;
    pthread_cond_broadcast(&keeper->wake);
    pthread_mutex_unlock(&keeper->lock);
    while (w.list.first)
        work_free(list_take(&w.list));
    return NULL;
}

/* Consumes `work`, which is NULL when memory ran out. */
static void hand_over(struct keeper *keeper, struct work *work)
{
    pthread_mutex_lock(&keeper->lock);
    if (work && keeper->waiting.count + keeper->writing < WAITING_LIMIT) {
        list_add(&keeper->waiting, work);
        pthread_cond_signal(&keeper->wake);
        work = NULL;
    } else {
        keeper->lost++;
    }
    pthread_mutex_unlock(&keeper->lock);
    if (work)
        work_free(work);
}

/* Takes over the JSON. */
static void hand_over_json(struct keeper *keeper, enum work_kind kind, long run, json_t *json)
{
    struct work *work = keeper && json ? calloc(1, sizeof *work) : NULL;
    if (work)
        *work = (struct work){.kind = kind, .run = run, .json = json};
    else
        json_decref(json);
    if (keeper)
        hand_over(keeper, work);
}

void keeper_put_run(struct keeper *keeper, json_t *object, json_t *spec, json_t *environment)
{
    struct work *work = keeper && object ? calloc(1, sizeof *work) : NULL;
    if (work) {
        *work = (struct work){
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

void keeper_set_events(struct keeper *keeper, long run, json_t *events)
{
    hand_over_json(keeper, WORK_EVENTS, run, events);
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

void keeper_add_event(struct keeper *keeper, long run, const char *name, const char *text)
{
    if (!keeper)
        return;
    struct work *work = calloc(1, sizeof *work);
    if (work) {
        *work = (struct work){.kind = WORK_EVENT, .run = run, .name = name, .text = strdup(text)};
        if (!work->text) {
            work_free(work);
            work = NULL;
        }
    }
    hand_over(keeper, work);
}

static bool open_reader(struct keeper *keeper, struct error *err)
{
    if (!keeper)
        return error_set(err, ERROR_ABSENT, "no runs are kept");
    return keeper->reader || store_open_reading(keeper->path, &keeper->reader, err);
}

bool keeper_show(struct keeper *keeper, long run, json_t **object, struct error *err)
{
    return open_reader(keeper, err) && store_show(keeper->reader, run, object, err);
}

bool keeper_read(struct keeper *keeper, long run, json_t **events, json_t **points,
                 struct error *err)
{
    if (!open_reader(keeper, err))
        return false;
    if (!store_events(keeper->reader, run, NULL, events, err))
        return false;
    if (store_points(keeper->reader, run, points, err))
        return true;
    json_decref(*events);
    return false;
}

/* What a crash left, in the log and in the store. */
static bool take_interrupted(struct keeper *keeper, struct error *err)
{
    json_t *numbers = NULL;
    size_t index;
    json_t *number;
    if (!store_interrupt(keeper->store, STORE_LOST, &numbers, err))
        return false;
    json_array_foreach(numbers, index, number)
    {
        long run = (long)json_integer_value(number);
        engine_log(keeper->log, MESSAGE_WARNING, run,
                   "run %ld was interrupted: the engine before this one ended without a word", run);
    }
    json_decref(numbers);
    return true;
}

static bool open_store(struct keeper *keeper, struct keeper_past *past, struct error *err)
{
    struct store_filter filter = STORE_FILTER_INIT;
    filter.limit = PAST_RUNS;
    if (!store_open(keeper->path, &keeper->store, past->notice, sizeof past->notice, err))
        return false;
    if (*past->notice)
        engine_log(keeper->log, MESSAGE_ERROR, 0, "%s", past->notice);
    return take_interrupted(keeper, err) &&
           store_last_number(keeper->store, &past->last_number, err) &&
           store_list(keeper->store, &filter, true, &past->runs, err);
}

static bool start_thread(struct keeper *keeper, struct error *err)
{
    pthread_mutex_init(&keeper->lock, NULL);
    errno = deadline_cond_init(&keeper->wake);
    if (errno == 0) {
        errno = pthread_create(&keeper->thread, NULL, keep_for_ever, keeper);
        if (errno == 0)
            return true;
        pthread_cond_destroy(&keeper->wake);
    }
    pthread_mutex_destroy(&keeper->lock);
    return error_errno(err, "cannot start the thread that keeps runs");
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
    engine_log(log, MESSAGE_ERROR, 0, "%s; the runs of this engine are lost when it ends",
               err.text);
    snprintf(past->notice, sizeof past->notice, "this run is not kept, nor are checkpoints: %s",
             err.text);
    if (keeper) {
        store_close(keeper->store);
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
    while (keeper->waiting.first)
        work_free(list_take(&keeper->waiting));
    store_close(keeper->reader);
    store_close(keeper->store);
    pthread_cond_destroy(&keeper->wake);
    pthread_mutex_destroy(&keeper->lock);
    free(keeper->path);
    free(keeper);
}
