/* SPDX-License-Identifier: MIT */
#include "engine/server/queue.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "engine/server/announce.h"

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

static bool is_event(const json_t *event, const char *name)
{
    const char *is = json_string_value(json_object_get(event, "event"));
    return is && strcmp(is, name) == 0;
}

/* The event on one line, with the number of its run: a new string, NULL when memory ran out. */
static char *event_text(const struct record *record, json_t *event)
{
    char *text = NULL;
    if (json_object_get(event, "run"))
        return json_dumps(event, JSON_LINE);
    json_t *numbered = json_pack("{s:I}", "run", (json_int_t)record->number);
    if (numbered && json_object_update(numbered, event) == 0)
        text = json_dumps(numbered, JSON_LINE);
    json_decref(numbered);
    return text;
}

static void tell_point(struct queue *queue, const struct record *record, const struct point *point)
{
    json_t *event = point_json(point);
    char *text = event ? event_text(record, event) : NULL;
    if (text)
        history_add(&queue->marks, text, false);
    free(text);
    json_decref(event);
}

/*
 * With the lock held: keep an event object and take its figures. True: it is news for others than
 * those who follow the steps.
 */
static bool keep_event(struct queue *queue, struct record *record, json_t *event)
{
    struct point point;
    bool is_step = is_event(event, "step");
    bool is_point = is_step                  ? curve_add(&record->curve, event, &point)
                    : is_event(event, "end") ? curve_end(&record->curve, &point)
                                             : false;
    if (is_point)
        tell_point(queue, record, &point);
    char *text = event_text(record, event);
    if (text)
        history_add(&record->history, text, is_step);
    else
        record->history.next++; /* followers learn of it as a gap */
    if (!is_step) {
        record_take_event(record, event);
        queue_touch(queue);
    }
    if (text && !is_step)
        history_add(&queue->marks, text, false);
    free(text);
    return is_point || !is_step;
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

/* Take a pointer out of an array of them. */
static void take_out(struct record **list, size_t *count, const struct record *record)
{
    size_t at = 0;
    while (at < *count && list[at] != record)
        at++;
    if (at == *count)
        return;
    --*count;
    memmove(&list[at], &list[at + 1], (*count - at) * sizeof(struct record *));
}

void queue_forget(struct queue *queue, struct record *record)
{
    take_out(queue->records, &queue->count, record);
    queue_touch(queue);
    /* Its thread may still be at work on the current one, and releases it then. */
    if (record == queue->current)
        record->forgotten = true;
    else
        record_free(record);
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
        bytes += record_bytes(record);
        if (ended > 1 && bytes > BYTES_OF_ENDED) {
            history_drop_steps(&record->history);
            history_drop_marks(&record->history);
            curve_free(&record->curve);
        }
        if (ended > ENDED_LIMIT)
            queue_forget(queue, record);
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
    pthread_mutex_lock(&queue->lock);
    bool news = keep_event(queue, sink->record, event);
    pthread_mutex_unlock(&queue->lock);
    if (news || atomic_load(&queue->followers) > 0)
        queue->changed(queue->context);
    announce_event(queue->log, sink->record->number, &sink->record->spec, event);
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
    record->started_at = clock_date();
    queue->current = record;
    take_out(queue->waiting, &queue->waiting_count, record);
    queue_touch(queue);
    pthread_mutex_unlock(&queue->lock);
    engine_log(queue->log, MESSAGE_INFO, record->number, "run %ld: its turn has come",
               record->number);
    bool ok = run_train(&record->spec, record->number, &record->control, &sink, &err);
    bool stopped = !ok && err.kind == ERROR_CANCELLED;
    const char *status = ok ? "done" : stopped ? "stopped" : "failed";
    pthread_mutex_lock(&queue->lock);
    bool silent = !record->ended;
    if (silent)
        keep_end(queue, record, status, ok || stopped ? NULL : err.text);
    pthread_mutex_unlock(&queue->lock);
    if (silent)
        engine_log(queue->log, ok ? MESSAGE_WARNING : MESSAGE_ERROR, record->number,
                   "run %ld ended without a word: %s", record->number, ok ? status : err.text);
    pthread_mutex_lock(&queue->lock);
    queue->current = NULL;
    queue_touch(queue);
    if (record->forgotten)
        record_free(record);
    trim_ended(queue);
}

static struct record *first_waiting(const struct queue *queue)
{
    return queue->waiting_count ? queue->waiting[0] : NULL;
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

bool queue_start(struct queue *queue, struct engine_log *log, void (*changed)(void *context),
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
    if (queue->leaving)
        return error_set(err, ERROR_FAILED, "the engine is about to end");
    if (queue->waiting_count >= QUEUE_WAITING_LIMIT)
        return error_set(err, ERROR_FAILED, "%d runs wait already: stop some first",
                         QUEUE_WAITING_LIMIT);
    if (queue->count == queue->capacity) {
        size_t capacity = queue->capacity ? 2 * queue->capacity : 16;
        struct record **records = realloc(queue->records, capacity * sizeof(struct record *));
        if (!records)
            return error_memory(err, "queue");
        queue->records = records;
        queue->capacity = capacity;
    }
    queue->records[queue->count++] = record;
    queue->waiting[queue->waiting_count++] = record;
    return true;
}

bool queue_add(struct queue *queue, struct spec *spec, const char *note, long *number,
               struct error *err)
{
    char *what = announce_describe(spec);
    pthread_mutex_lock(&queue->lock);
    struct record *record = record_new(queue->last_number + 1, spec);
    bool ok = record ? append(queue, record, err) : error_memory(err, "run");
    if (ok) {
        record_set_note(record, note);
        engine_log(queue->log, MESSAGE_INFO, record->number, "run %ld is submitted: %s",
                   record->number, what ? what : "?");
        /* Also here: runs that are taken out while another trains end without the runner. */
        trim_ended(queue);
        *number = ++queue->last_number;
        queue_touch(queue);
        pthread_cond_signal(&queue->wake);
    } else {
        record_free(record);
    }
    pthread_mutex_unlock(&queue->lock);
    free(what);
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
        take_out(queue->waiting, &queue->waiting_count, record);
        keep_end(queue, record, "stopped", NULL);
    } else if (record->status == RUN_RUNNING) {
        run_control_stop(&record->control, how);
        queue_touch(queue);
    }
}

void queue_move(struct queue *queue, struct record *record, size_t place)
{
    take_out(queue->waiting, &queue->waiting_count, record);
    if (place > queue->waiting_count)
        place = queue->waiting_count;
    memmove(&queue->waiting[place + 1], &queue->waiting[place],
            (queue->waiting_count - place) * sizeof(struct record *));
    queue->waiting[place] = record;
    queue->waiting_count++;
    queue_touch(queue);
}
