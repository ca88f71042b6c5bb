/* SPDX-License-Identifier: MIT */
#include "engine/server/tasks/task.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/deadline.h"

/* How often a task that waits for its viewer looks whether it has been cancelled. */
#define LOOK_S 0.1

static void *task_main(void *context)
{
    struct task *task = context;
    task->ok = task->request.work(task, task->request.params, &task->result, &task->err);
    if (task->ok && !task->result)
        task->ok = error_memory(&task->err, "answer");
    void (*changed)(void *) = task->changed;
    void *changed_context = task->context;
    task->seconds = clock_thread_seconds();
    atomic_store(&task->finished, true);
    changed(changed_context);
    return NULL;
}

bool task_start(const struct task *like, struct task **out, struct error *err)
{
    struct task *task = malloc(sizeof *task);
    if (task) {
        *task = *like;
        pthread_mutex_init(&task->lock, NULL);
        atomic_init(&task->cancelled, false);
        atomic_init(&task->finished, false);
        errno = deadline_cond_init(&task->told);
        if (!errno) {
            errno = pthread_create(&task->thread, NULL, task_main, task);
            if (!errno) {
                *out = task;
                return true;
            }
            pthread_cond_destroy(&task->told);
        }
        error_errno(err, "cannot start a thread for the request");
        pthread_mutex_destroy(&task->lock);
        free(task);
    } else {
        error_memory(err, "request");
    }
    json_decref(like->request.id);
    json_decref(like->request.params);
    return false;
}

static bool is_wanted(void *context, long done, long total)
{
    struct task *task = context;
    (void)done;
    (void)total;
    return !atomic_load(&task->cancelled);
}

struct data_watch task_watch(struct task *task)
{
    return (struct data_watch){is_wanted, task};
}

void task_finish(struct task *task)
{
    pthread_join(task->thread, NULL);
    pthread_cond_destroy(&task->told);
    pthread_mutex_destroy(&task->lock);
    json_decref(task->request.id);
    json_decref(task->request.params);
    json_decref(task->result);
    json_decref(task->progress);
    free(task);
}

double task_seconds(const struct task *task)
{
    clockid_t clock;
    struct timespec spent;
    if (atomic_load(&task->finished))
        return task->seconds;
    /* A thread that is just about to end has no clock any more; soon it will be finished. */
    if (pthread_getcpuclockid(task->thread, &clock) != 0 || clock_gettime(clock, &spent) != 0)
        return task->charged;
    return (double)spent.tv_sec + 1e-9 * (double)spent.tv_nsec;
}

bool task_report(struct task *task, json_t *params)
{
    pthread_mutex_lock(&task->lock);
    json_decref(task->progress);
    task->progress = params;
    pthread_mutex_unlock(&task->lock);
    task->changed(task->context);
    return !atomic_load(&task->cancelled);
}

json_t *task_take_progress(struct task *task)
{
    pthread_mutex_lock(&task->lock);
    json_t *params = task->progress;
    task->progress = NULL;
    pthread_cond_signal(&task->told);
    pthread_mutex_unlock(&task->lock);
    return params;
}

bool task_deliver(struct task *task, json_t *params)
{
    bool wanted = task_report(task, params);
    pthread_mutex_lock(&task->lock);
    while (wanted && task->progress) {
        const struct timespec until = deadline_after(LOOK_S);
        pthread_cond_timedwait(&task->told, &task->lock, &until);
        wanted = !atomic_load(&task->cancelled);
    }
    pthread_mutex_unlock(&task->lock);
    return wanted;
}
