/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/data/pictures/watch.h"
#include "engine/server/socket/connection.h"

/*
 * Requests that take their time (reading files, planning a network, the net) each work on a thread
 * of their own, so that no viewer waits for another's. The server's thread starts, polls and
 * releases them.
 */

struct gpu_survey;
struct nvml;
struct queue;

struct task {
    struct task *next;
    pthread_t thread;
    struct request request; /* its params are the task's own while it works */
    struct queue *queue;
    struct nvml *nvml;
    struct gpu_survey *survey;
    uint64_t connection;
    double charged; /* seconds of the processor, to the viewers' budget */
    void (*changed)(void *context);
    void *context;
    atomic_bool cancelled, finished;
    /* Once finished: */
    bool ok;
    json_t *result;
    struct error err;
    double seconds; /* of the processor that its thread has had */
    /* The newest progress that the viewer has not been told, guarded by `lock`; NULL: none. */
    pthread_mutex_t lock;
    pthread_cond_t told;
    json_t *progress;
};

#define TASK_LIMIT                16 /* running at the same time */
#define TASK_LIMIT_PER_CONNECTION 4

/*
 * Start a task whose fields request, queue, nvml, survey, connection, charged, changed and context
 * are set in `like`; takes over the request's id and params, on failure too.
 */
bool task_start(const struct task *like, struct task **out, struct error *err);

/* For work that takes long: it ends when the one who asked has gone. */
struct data_watch task_watch(struct task *task);

/* Wait for the thread and release the task. */
void task_finish(struct task *task);

/* Seconds of the processor that its thread has had so far. */
double task_seconds(const struct task *task);

/*
 * Tell the viewer how far the task is, by a notification with the name of its method; on its
 * thread. `params` is stolen; a newer one takes the place of one that was not sent yet. False: the
 * task has been cancelled.
 */
bool task_report(struct task *task, json_t *params);

/*
 * The same for what the viewer must not miss: waits until it is being sent, which is when the
 * viewer has taken what came before. It returns soon after the task is cancelled, as it is when the
 * viewer goes.
 */
bool task_deliver(struct task *task, json_t *params);

/* Take what task_report was given since the last call; NULL: nothing. */
json_t *task_take_progress(struct task *task);
