/* SPDX-License-Identifier: MIT */
#include "engine/train/step/worker.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/deadline.h"

/* Room for the libraries' own frames, whatever the shell's stack limit is; only touched pages
 * count. */
static const size_t STACK_BYTES = 16u << 20;

static const unsigned long TIMER_SLACK_NS = 1000;

/* Threads that had no task have nothing to close. */
static const double UNUSED_CLOSE_S = 3600;

struct worker {
    struct workers *workers;
    pthread_t thread;
    int index;
    bool busy;
};

struct workers {
    struct worker_tasks tasks;
    atomic_uint posts;    /* tasks so far, and the dismissal; written under the lock */
    pthread_mutex_t lock; /* guards everything below */
    pthread_cond_t posted, finished;
    worker_task task;
    bool dismissed, abandoned;
    int count, busy, open;
    struct worker worker[];
};

static void workers_free(struct workers *workers)
{
    pthread_cond_destroy(&workers->finished);
    pthread_cond_destroy(&workers->posted);
    pthread_mutex_destroy(&workers->lock);
    free(workers);
}

static void run_task(struct workers *workers, struct worker *self)
{
    worker_task task = workers->task;
    struct error err = ERROR_INIT;
    pthread_mutex_unlock(&workers->lock);
    bool ok = task(workers->tasks.context, self->index, &err);
    workers->tasks.conclude(workers->tasks.context, self->index, ok, &err);
    pthread_mutex_lock(&workers->lock);
    self->busy = false;
    if (--workers->busy == 0) {
        pthread_cond_broadcast(&workers->finished);
        pthread_cond_broadcast(&workers->posted);
    }
}

/*
 * With the lock held, which is released meanwhile: the next step mostly follows at once, and a core
 * that sleeps takes long to wake. sched_yield, as the owner may need this core.
 */
static void spin_for_post(struct workers *workers)
{
    unsigned posts = atomic_load(&workers->posts);
    pthread_mutex_unlock(&workers->lock);
    double end = clock_seconds() + workers->tasks.spin_s;
    while (atomic_load_explicit(&workers->posts, memory_order_acquire) == posts &&
           clock_seconds() < end)
        sched_yield();
    pthread_mutex_lock(&workers->lock);
}

static void *worker_main(void *argument)
{
    struct worker *self = argument;
    struct workers *workers = self->workers;
    bool spun = workers->tasks.spin_s <= 0;
    /* Threads that wait for a device rest for some microseconds at a time: the usual 50 that the
     * system may add to each are longer than that. */
    (void)prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS);
    pthread_mutex_lock(&workers->lock);
    /* Devices read each other's memory inside tasks, so nobody closes while one is running. */
    while (!(workers->dismissed && workers->busy == 0)) {
        if (self->busy) {
            run_task(workers, self);
            spun = workers->tasks.spin_s <= 0;
        } else if (!spun) {
            spin_for_post(workers);
            spun = true;
        } else {
            pthread_cond_wait(&workers->posted, &workers->lock);
        }
    }
    pthread_mutex_unlock(&workers->lock);
    workers->tasks.close(workers->tasks.context, self->index);
    pthread_mutex_lock(&workers->lock);
    bool last = --workers->open == 0 && workers->abandoned;
    pthread_cond_broadcast(&workers->finished);
    pthread_mutex_unlock(&workers->lock);
    if (last) {
        workers->tasks.abandoned(workers->tasks.context);
        workers_free(workers);
    }
    return NULL;
}

static int start_thread(struct worker *worker, const char *name)
{
    pthread_attr_t attributes;
    int status = pthread_attr_init(&attributes);
    if (status != 0)
        return status;
    status = pthread_attr_setstacksize(&attributes, STACK_BYTES);
    if (status == 0)
        status = pthread_create(&worker->thread, &attributes, worker_main, worker);
    pthread_attr_destroy(&attributes);
    if (status == 0) {
        char short_name[16];
        snprintf(short_name, sizeof short_name, "%s", name);
        pthread_setname_np(worker->thread, short_name);
    }
    return status;
}

static int workers_allocate(int count, const struct worker_tasks *tasks, struct workers **out)
{
    struct workers *workers = calloc(1, sizeof *workers + (size_t)count * sizeof(struct worker));
    if (!workers)
        return ENOMEM;
    workers->tasks = *tasks;
    atomic_init(&workers->posts, 0);
    int status = pthread_mutex_init(&workers->lock, NULL);
    if (status != 0)
        goto no_lock;
    status = pthread_cond_init(&workers->posted, NULL);
    if (status != 0)
        goto no_posted;
    status = deadline_cond_init(&workers->finished);
    if (status != 0)
        goto no_finished;
    *out = workers;
    return 0;
no_finished:
    pthread_cond_destroy(&workers->posted);
no_posted:
    pthread_mutex_destroy(&workers->lock);
no_lock:
    free(workers);
    return status;
}

bool workers_start(int count, const char *const *names, const struct worker_tasks *tasks,
                   struct workers **out, struct error *err)
{
    struct workers *workers = NULL;
    sigset_t blocked, before;
    int status = workers_allocate(count, tasks, &workers);
    if (status != 0) {
        errno = status;
        return error_errno(err, "cannot prepare %d worker threads", count);
    }
    /* All but those of a fault of the thread, which debuggers and sanitizers need. */
    sigfillset(&blocked);
    sigdelset(&blocked, SIGSEGV);
    sigdelset(&blocked, SIGBUS);
    sigdelset(&blocked, SIGFPE);
    sigdelset(&blocked, SIGILL);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    pthread_mutex_lock(&workers->lock);
    while (status == 0 && workers->count < count) {
        struct worker *worker = &workers->worker[workers->count];
        worker->workers = workers;
        worker->index = tasks->first + workers->count;
        status = start_thread(worker, names[workers->count]);
        if (status == 0)
            workers->count++;
    }
    workers->open = workers->count;
    pthread_mutex_unlock(&workers->lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status == 0) {
        *out = workers;
        return true;
    }
    errno = status;
    error_errno(err, "%s: cannot start its thread (limits: ulimit -u, cgroup pids.max)",
                names[workers->count]);
    workers_dismiss(workers, UNUSED_CLOSE_S);
    return false;
}

void workers_post(struct workers *workers, worker_task task)
{
    pthread_mutex_lock(&workers->lock);
    workers->task = task;
    workers->busy = workers->count;
    for (int i = 0; i < workers->count; i++)
        workers->worker[i].busy = true;
    atomic_fetch_add(&workers->posts, 1);
    pthread_cond_broadcast(&workers->posted);
    pthread_mutex_unlock(&workers->lock);
}

bool workers_wait(struct workers *workers, double seconds)
{
    struct timespec deadline = deadline_after(seconds);
    pthread_mutex_lock(&workers->lock);
    while (workers->busy > 0)
        if (pthread_cond_timedwait(&workers->finished, &workers->lock, &deadline) == ETIMEDOUT)
            break;
    bool done = workers->busy == 0;
    pthread_mutex_unlock(&workers->lock);
    return done;
}

bool workers_finished(struct workers *workers, int worker)
{
    pthread_mutex_lock(&workers->lock);
    bool finished = !workers->worker[worker].busy;
    pthread_mutex_unlock(&workers->lock);
    return finished;
}

/* With the lock held: wait until all threads have closed; false: some have not in this time. */
static bool wait_closed(struct workers *workers, double seconds)
{
    struct timespec deadline = deadline_after(seconds);
    while (workers->open > 0)
        if (pthread_cond_timedwait(&workers->finished, &workers->lock, &deadline) == ETIMEDOUT)
            break;
    return workers->open == 0;
}

bool workers_dismiss(struct workers *workers, double close_s)
{
    pthread_mutex_lock(&workers->lock);
    workers->dismissed = true;
    atomic_fetch_add(&workers->posts, 1);
    pthread_cond_broadcast(&workers->posted);
    bool abandon = workers->busy > 0 || !wait_closed(workers, close_s);
    workers->abandoned = abandon;
    /* Joined or detached before any of them can end and free the list. */
    for (int i = 0; abandon && i < workers->count; i++)
        pthread_detach(workers->worker[i].thread);
    pthread_mutex_unlock(&workers->lock);
    if (abandon)
        return false;
    for (int i = 0; i < workers->count; i++)
        pthread_join(workers->worker[i].thread, NULL);
    workers_free(workers);
    return true;
}
