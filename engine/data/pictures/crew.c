/* SPDX-License-Identifier: MIT */
#include "engine/data/pictures/crew.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/deadline.h"

#define MOST_THREADS 256
#define TICK_S       0.1

struct crew {
    const struct crew_work *work;
    atomic_long next, done;
    atomic_bool ended; /* an item failed, or nobody wants the rest */
    pthread_mutex_t lock;
    pthread_cond_t left;
    int threads; /* that have not left yet */
    long failed; /* the first item that did; LONG_MAX: none */
    struct error err;
};

static void note_failure(struct crew *crew, long item, const struct error *err)
{
    pthread_mutex_lock(&crew->lock);
    if (item < crew->failed) {
        crew->failed = item;
        crew->err = *err;
    }
    pthread_mutex_unlock(&crew->lock);
    atomic_store(&crew->ended, true);
}

static void *read_items(void *context)
{
    struct crew *crew = context;
    struct picture_reader reader = {0};
    long item;
    while (!atomic_load(&crew->ended) &&
           (item = atomic_fetch_add(&crew->next, 1)) < crew->work->count) {
        struct error err = ERROR_INIT;
        if (!crew->work->item(crew->work->context, &reader, item, &err))
            note_failure(crew, item, &err);
        atomic_fetch_add(&crew->done, 1);
    }
    picture_reader_free(&reader);
    pthread_mutex_lock(&crew->lock);
    crew->threads--;
    pthread_cond_signal(&crew->left);
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

static int thread_count(long items)
{
    cpu_set_t cpus;
    int count = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
    count = count > MOST_THREADS ? MOST_THREADS : count;
    return items < count ? (int)items : count;
}

/* As many threads as can be had; at least one, or *err. */
static int start(struct crew *crew, pthread_t *threads, int wanted, struct error *err)
{
    int started = 0;
    crew->threads = wanted;
    while (started < wanted &&
           (errno = pthread_create(&threads[started], NULL, read_items, crew)) == 0)
        started++;
    if (started == 0)
        error_errno(err, "cannot start a thread to read pictures");
    pthread_mutex_lock(&crew->lock);
    crew->threads -= wanted - started;
    pthread_mutex_unlock(&crew->lock);
    return started;
}

static bool wait_for_all(struct crew *crew, const struct data_watch *watch)
{
    bool wanted = true;
    pthread_mutex_lock(&crew->lock);
    while (crew->threads > 0) {
        const struct timespec until = deadline_after(TICK_S);
        pthread_cond_timedwait(&crew->left, &crew->lock, &until);
        pthread_mutex_unlock(&crew->lock);
        wanted = wanted && data_watch_tick(watch, atomic_load(&crew->done), crew->work->count);
        if (!wanted)
            atomic_store(&crew->ended, true);
        pthread_mutex_lock(&crew->lock);
    }
    pthread_mutex_unlock(&crew->lock);
    return wanted;
}

bool crew_run(const struct crew_work *work, const struct data_watch *watch, struct error *err)
{
    struct crew crew = {.work = work, .failed = LONG_MAX};
    pthread_t threads[MOST_THREADS];
    if (work->count == 0)
        return true;
    errno = deadline_cond_init(&crew.left);
    if (errno)
        return error_errno(err, "cannot start threads to read pictures");
    pthread_mutex_init(&crew.lock, NULL);
    int started = start(&crew, threads, thread_count(work->count), err);
    bool wanted = started > 0 && wait_for_all(&crew, watch);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_cond_destroy(&crew.left);
    pthread_mutex_destroy(&crew.lock);
    if (started == 0)
        return false;
    if (crew.failed != LONG_MAX) {
        *err = crew.err;
        return false;
    }
    return wanted || error_set(err, ERROR_CANCELLED, "stopped before all pictures were read");
}
