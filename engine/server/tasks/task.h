/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_SERVER_TASKS_TASK_H
#define DPARTUI_ENGINE_SERVER_TASKS_TASK_H

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/fetch/fetch.h"
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
    /* The newest progress of a fetch, guarded by `lock`. */
    pthread_mutex_t lock;
    bool has_progress;
    struct fetch_progress progress;
    char file[256];
};

#define TASK_LIMIT                16 /* running at the same time */
#define TASK_LIMIT_PER_CONNECTION 4

/*
 * Start a task whose fields request, queue, nvml, survey, connection, charged, changed and context
 * are set in `like`; takes over the request's id and params, on failure too.
 */
bool task_start(const struct task *like, struct task **out, struct error *err);

/* Wait for the thread and release the task. */
void task_finish(struct task *task);

/* Seconds of the processor that its thread has had so far. */
double task_seconds(const struct task *task);

/* Take the progress that arrived since the last call; false when there is none. */
bool task_take_progress(struct task *task, json_t **params);

#endif
