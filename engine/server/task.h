/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_SERVER_TASK_H
#define DPARTUI_ENGINE_SERVER_TASK_H

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/data/fetch.h"

/*
 * Requests that take their time (reading files, planning a network, the net) each work on a thread
 * of their own, so that no viewer waits for another's. The server's thread starts, polls and
 * releases them.
 */

struct gpu_survey;
struct nvml;
struct queue;
struct task;

/* Result (a new reference) or an error; called on the task's thread. */
typedef bool task_work(struct task *task, const json_t *params, json_t **result, struct error *err);

struct task {
    struct task *next;
    pthread_t thread;
    task_work *work;
    struct queue *queue;
    struct nvml *nvml;
    struct gpu_survey *survey;
    uint64_t connection;
    bool barrier;
    json_t *id;     /* of the request; NULL: a notification, nobody waits for the answer */
    json_t *params; /* the task's own while it works */
    void (*changed)(void *context);
    void *context;
    atomic_bool cancelled, finished;
    /* Once finished: */
    bool ok;
    json_t *result;
    struct error err;
    /* The newest progress of a fetch, guarded by `lock`. */
    pthread_mutex_t lock;
    bool has_progress;
    struct fetch_progress progress;
    char file[256];
};

#define TASK_LIMIT                16 /* at work at the same time */
#define TASK_LIMIT_PER_CONNECTION 4

/*
 * Start a task whose fields work, queue, nvml, connection, barrier, id, params, changed and context
 * are set in `like`; takes over its id and params, on failure too.
 */
bool task_start(const struct task *like, struct task **out, struct error *err);

/* Wait for the thread and release the task. */
void task_finish(struct task *task);

/* Take the progress that arrived since the last call; false when there is none. */
bool task_take_progress(struct task *task, json_t **params);

/* What the methods do. */
task_work task_devices, task_check, task_submit, task_model, task_weights, task_fetch;

#endif
