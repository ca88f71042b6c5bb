/* SPDX-License-Identifier: MIT */
#include "engine/server/queue.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

#define WAITING_LIMIT  1000
#define ENDED_LIMIT    1000
#define MARKS_FOR_ALL  4096
#define STEPS_OF_ENDED 4                  /* newest ended runs whose steps are kept */
#define BYTES_OF_ENDED ((size_t)64 << 20) /* of all ended runs' events */

void queue_touch(struct queue *queue)
{
    queue->version++;
    queue->changes++;
}

struct record *queue_find(const struct queue *queue, long number)
{
    size_t low = 0, high = queue->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (queue->records[middle]->number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < queue->count && queue->records[low]->number == number ? queue->records[low] : NULL;
}

/* With the lock held: keep an event object and take its figures. */
static void keep_event(struct queue *queue, struct record *record, json_t *event)
{
    const char *name = json_string_value(json_object_get(event, "event"));
    bool is_step = name && strcmp(name, "step") == 0;
    char *text = NULL;
    if (json_object_get(event, "run")) {
        text = json_dumps(event, JSON_LINE);
    } else {
        json_t *numbered = json_pack("{s:I}", "run", (json_int_t)record->number);
        if (numbered && json_object_update(numbered, event) == 0)
            text = json_dumps(numbered, JSON_LINE);
        json_decref(numbered);
    }
    if (!text) {
        record->history.next++; /* followers learn of it as a gap */
        return;
    }
    history_add(&record->history, text, is_step);
    if (!is_step) {
        record_note(record, event);
        history_add(&queue->marks, text, false);
        queue_touch(queue);
    }
    free(text);
}

/* With the lock held: a run that ended without a word of its own gets its "end" event. */
static void keep_end(struct queue *queue, struct record *record, const char *status,
                     const char *error)
{
    json_t *event =
        json_pack("{s:s, s:I, s:s, s:I, s:I}", "event", "end", "run", (json_int_t)record->number,
                  "status", status, "epochs", (json_int_t)record->epochs_done, "steps",
                  (json_int_t)(record->has_progress ? record->progress.step : 0));
    if (event && error)
        json_object_set_new(event, "error", json_any_text(error));
    /* Memory may have run out for the event; the run has ended all the same. */
    if (event)
        keep_event(queue, record, event);
    if (!record->ended) {
        record->ended = true;
        record->status = RUN_FAILED;
    }
    json_decref(event);
}

static bool has_ended(const struct record *record)
{
    return record->status != RUN_QUEUED && record->status != RUN_RUNNING;
}

static void forget(struct queue *queue, size_t index)
{
    record_free(queue->records[index]);
    queue->count--;
    memmove(&queue->records[index], &queue->records[index + 1],
            (queue->count - index) * sizeof(struct record *));
}

/* With the lock held: bound what ended runs take, oldest first. */
static void trim_ended(struct queue *queue)
{
    size_t ended = 0, bytes = 0;
    for (size_t i = queue->count; i > 0; i--) {
        struct record *record = queue->records[i - 1];
        /* The training side may still be at work on the current one. */
        if (!has_ended(record) || record == queue->current)
            continue;
        if (++ended > STEPS_OF_ENDED)
            history_drop_steps(&record->history);
        bytes += record->history.bytes;
        if (ended > 1 && bytes > BYTES_OF_ENDED) {
            history_drop_steps(&record->history);
            history_drop_marks(&record->history);
        }
        if (ended > ENDED_LIMIT)
            forget(queue, i - 1);
    }
}

struct sink_context {
    struct queue *queue;
    struct record *record;
};

static void sink_event(void *context, json_t *event)
{
    struct sink_context *sink = context;
    struct queue *queue = sink->queue;
    const char *name = json_string_value(json_object_get(event, "event"));
    bool is_step = name && strcmp(name, "step") == 0;
    pthread_mutex_lock(&queue->lock);
    keep_event(queue, sink->record, event);
    pthread_mutex_unlock(&queue->lock);
    if (!is_step || atomic_load(&queue->followers) > 0)
        queue->changed(queue->context);
}

static void sink_progress(void *context, const struct run_progress *progress)
{
    struct sink_context *sink = context;
    pthread_mutex_lock(&sink->queue->lock);
    record_set_progress(sink->record, progress);
    sink->queue->version++;
    pthread_mutex_unlock(&sink->queue->lock);
}

/* Called and returns with the lock held. */
static void execute(struct queue *queue, struct record *record)
{
    struct sink_context context = {queue, record};
    struct run_sink sink = {sink_event, sink_progress, &context};
    struct error err = ERROR_INIT;
    record->status = RUN_RUNNING;
    queue->current = record;
    queue_touch(queue);
    pthread_mutex_unlock(&queue->lock);
    engine_log(queue->log, "run %ld begins", record->number);
    queue->changed(queue->context);
    bool ok = run_train(&record->spec, record->number, &record->control, &sink, &err);
    bool stopped = !ok && err.kind == ERROR_CANCELLED;
    engine_log(queue->log, "run %ld ends: %s", record->number,
               ok        ? "done"
               : stopped ? "stopped"
                         : err.text);
    pthread_mutex_lock(&queue->lock);
    if (!record->ended)
        keep_end(queue, record,
                 ok        ? "done"
                 : stopped ? "stopped"
                           : "failed",
                 ok || stopped ? NULL : err.text);
    queue->current = NULL;
    queue_touch(queue);
    trim_ended(queue);
}

static struct record *first_waiting(const struct queue *queue)
{
    for (size_t i = 0; i < queue->count; i++)
        if (queue->records[i]->status == RUN_QUEUED)
            return queue->records[i];
    return NULL;
}

static void *run_forever(void *context)
{
    struct queue *queue = context;
    pthread_mutex_lock(&queue->lock);
    while (!queue->leaving) {
        struct record *next = first_waiting(queue);
        if (!next) {
            pthread_cond_wait(&queue->wake, &queue->lock);
            continue;
        }
        execute(queue, next);
        pthread_mutex_unlock(&queue->lock);
        queue->changed(queue->context);
        pthread_mutex_lock(&queue->lock);
    }
    queue->idle = true;
    pthread_mutex_unlock(&queue->lock);
    queue->changed(queue->context);
    return NULL;
}

bool queue_start(struct queue *queue, const struct engine_log *log, void (*changed)(void *context),
                 void *context, struct error *err)
{
    *queue = (struct queue){.log = log, .changed = changed, .context = context};
    history_init(&queue->marks, 1, MARKS_FOR_ALL);
    atomic_init(&queue->followers, 0);
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->wake, NULL);
    errno = pthread_create(&queue->runner, NULL, run_forever, queue);
    if (errno) {
        pthread_cond_destroy(&queue->wake);
        pthread_mutex_destroy(&queue->lock);
        return error_errno(err, "cannot start the thread that trains");
    }
    return true;
}

void queue_leave(struct queue *queue, enum run_stop how)
{
    pthread_mutex_lock(&queue->lock);
    queue->leaving = true;
    for (size_t i = 0; i < queue->count; i++)
        queue_stop(queue, queue->records[i], how);
    pthread_cond_signal(&queue->wake);
    pthread_mutex_unlock(&queue->lock);
}

bool queue_has_left(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    bool idle = queue->idle;
    pthread_mutex_unlock(&queue->lock);
    return idle;
}

void queue_free(struct queue *queue)
{
    pthread_join(queue->runner, NULL);
    for (size_t i = 0; i < queue->count; i++)
        record_free(queue->records[i]);
    free(queue->records);
    history_free(&queue->marks);
    pthread_cond_destroy(&queue->wake);
    pthread_mutex_destroy(&queue->lock);
}

/* With the lock held. */
static bool append(struct queue *queue, struct record *record, struct error *err)
{
    size_t waiting = 0;
    for (size_t i = 0; i < queue->count; i++)
        waiting += queue->records[i]->status == RUN_QUEUED;
    if (queue->leaving)
        return error_set(err, ERROR_FAILED, "the engine is about to end");
    if (waiting >= WAITING_LIMIT)
        return error_set(err, ERROR_FAILED, "%d runs wait already: stop some first", WAITING_LIMIT);
    if (queue->count == queue->capacity) {
        size_t capacity = queue->capacity ? 2 * queue->capacity : 16;
        struct record **records = realloc(queue->records, capacity * sizeof(struct record *));
        if (!records)
            return error_memory(err, "queue");
        queue->records = records;
        queue->capacity = capacity;
    }
    queue->records[queue->count++] = record;
    return true;
}

bool queue_add(struct queue *queue, struct spec *spec, long *number, struct error *err)
{
    pthread_mutex_lock(&queue->lock);
    struct record *record = record_new(queue->last_number + 1, spec);
    bool ok = record ? append(queue, record, err) : error_memory(err, "run");
    if (ok) {
        /* Also here: runs that are taken out while another trains end without the runner. */
        trim_ended(queue);
        *number = ++queue->last_number;
        queue_touch(queue);
        pthread_cond_signal(&queue->wake);
    } else {
        record_free(record);
    }
    pthread_mutex_unlock(&queue->lock);
    return ok;
}

struct record *queue_running(const struct queue *queue)
{
    return queue->current && queue->current->status == RUN_RUNNING ? queue->current : NULL;
}

bool queue_is_busy(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    bool busy = queue_running(queue) || first_waiting(queue);
    pthread_mutex_unlock(&queue->lock);
    return busy;
}

void queue_stop(struct queue *queue, struct record *record, enum run_stop how)
{
    if (record->status == RUN_QUEUED) {
        keep_end(queue, record, "stopped", NULL);
    } else if (record->status == RUN_RUNNING && atomic_load(&record->control.stop) < (int)how) {
        atomic_store(&record->control.stop, how);
        atomic_store(&record->control.paused, false);
        queue_touch(queue);
    }
}
