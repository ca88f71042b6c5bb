/* SPDX-License-Identifier: MIT */
#include "engine/server/queue/queue.h"

#include <stdlib.h>
#include <string.h>

#include "engine/server/queue/announce.h"
#include "engine/server/queue/events.h"
#include "engine/server/queue/resume.h"
#include "engine/server/record/labels.h"
#include "engine/server/record/restore.h"
#include "engine/train/checkpoint/deletion.h"

#define ENDED_LIMIT    1000
#define RECALLED_LIMIT 64                 /* older ones that were asked for */
#define STEPS_OF_ENDED 4                  /* newest ended runs whose steps are kept */
#define BYTES_OF_ENDED ((size_t)64 << 20) /* of all ended runs' events */

void queue_touch(struct queue *queue)
{
    queue->version++;
    queue->changes++;
}

void queue_edited(struct queue *queue)
{
    queue->version++;
    queue->edits++;
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

/* With the lock held: a run of the store among the others, in its place. */
static bool insert(struct queue *queue, struct record *record, struct error *err)
{
    if (queue->count > ENDED_LIMIT + RECALLED_LIMIT)
        queue_trim(queue);
    if (!queue_make_room(queue, 1, err))
        return false;
    size_t at = 0;
    while (at < queue->count && queue->records[at]->number < record->number)
        at++;
    memmove(&queue->records[at + 1], &queue->records[at],
            (queue->count - at) * sizeof(struct record *));
    queue->records[at] = record;
    queue->count++;
    queue->older--;
    queue_edited(queue);
    return true;
}

struct record *queue_recall(struct queue *queue, long number, struct error *err)
{
    struct record *record = queue_find(queue, number);
    json_t *object;
    if (record)
        return record;
    for (size_t i = 0; i < queue->deleted_count; i++)
        if (queue->deleted[i] == number) {
            error_set(err, ERROR_ABSENT, "there is no run %ld", number);
            return NULL;
        }
    if (!history_show(queue->history, number, &object, err)) {
        if (err->kind == ERROR_ABSENT)
            error_set(err, ERROR_ABSENT, "there is no run %ld", number);
        return NULL;
    }
    record = record_restore(object);
    json_decref(object);
    if (!record) {
        error_set(err, ERROR_FAILED, "run %ld of the store is not understood", number);
    } else if (!insert(queue, record, err)) {
        record_free(record);
        record = NULL;
    }
    return record;
}

bool queue_has_ended(const struct record *record)
{
    return record->status != RUN_QUEUED && record->status != RUN_RUNNING;
}

void queue_take_out(struct record **list, size_t *count, const struct record *record)
{
    size_t at = 0;
    while (at < *count && list[at] != record)
        at++;
    if (at == *count)
        return;
    --*count;
    memmove(&list[at], &list[at + 1], (*count - at) * sizeof(struct record *));
}

/* With the lock held: release a record; the store is another matter. */
static void release_record(struct queue *queue, struct record *record)
{
    queue_take_out(queue->records, &queue->count, record);
    /* Its thread may still use the current one, or a reader any of them; the last one releases it.
     */
    if (record == queue->current || record->readers > 0)
        record->deleted = true;
    else
        record_free(record);
}

/* Without memory for it the run may be found again until the store has deleted it. */
static void note_deleted(struct queue *queue, long number)
{
    long *more = realloc(queue->deleted, (queue->deleted_count + 1) * sizeof *more);
    if (!more)
        return;
    queue->deleted = more;
    queue->deleted[queue->deleted_count++] = number;
}

bool queue_delete(struct queue *queue, struct record *record, struct error *err)
{
    char *folder = queue_checkpoint_folder(queue, record->number);
    bool ok = !folder || checkpoint_mark_deleted(folder, err);
    free(folder);
    if (!ok)
        return false;
    history_delete(queue->history, record->number);
    note_deleted(queue, record->number);
    release_record(queue, record);
    queue_edited(queue);
    return true;
}

void queue_trim(struct queue *queue)
{
    size_t ended = 0, bytes = 0;
    for (size_t i = queue->count; i > 0; i--) {
        struct record *record = queue->records[i - 1];
        /* The training side may still use the current one. */
        if (!queue_has_ended(record) || record == queue->current)
            continue;
        if (++ended > STEPS_OF_ENDED)
            event_buffer_drop_steps(&record->events);
        bytes += record_bytes(record);
        if (ended > 1 && bytes > BYTES_OF_ENDED) {
            event_buffer_drop_steps(&record->events);
            event_buffer_drop_marks(&record->events);
            curve_free(&record->curve);
            record->away = queue->history != NULL;
        }
        if (ended > ENDED_LIMIT) {
            release_record(queue, record);
            queue->older += queue->history != NULL;
        }
    }
}

struct record *queue_first_waiting(const struct queue *queue)
{
    return queue->waiting_count ? queue->waiting[0] : NULL;
}

bool queue_make_room(struct queue *queue, size_t more, struct error *err)
{
    if (queue->count + more <= queue->capacity)
        return true;
    size_t capacity = 2 * queue->capacity + more + 16;
    struct record **records = realloc(queue->records, capacity * sizeof(struct record *));
    if (!records)
        return error_memory(err, "queue");
    queue->records = records;
    queue->capacity = capacity;
    return true;
}

/* With the lock held. */
static bool append(struct queue *queue, struct record *record, struct error *err)
{
    if (queue->leaving)
        return error_set(err, ERROR_FAILED, "the engine is about to end");
    if (queue->waiting_count >= QUEUE_WAITING_LIMIT)
        return error_set(err, ERROR_FAILED, "%d runs wait already: stop some first",
                         QUEUE_WAITING_LIMIT);
    if (!queue_make_room(queue, 1, err))
        return false;
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
        queue_trim(queue);
        *number = ++queue->last_number;
        queue_keep(queue, record);
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
    bool busy = queue_running(queue) || queue_first_waiting(queue);
    pthread_mutex_unlock(&queue->lock);
    return busy;
}

void queue_stop(struct queue *queue, struct record *record, enum run_stop how)
{
    if (record->status == RUN_QUEUED) {
        queue_take_out(queue->waiting, &queue->waiting_count, record);
        if (record->before)
            queue_undo_resume(queue, record);
        else
            queue_keep_end(queue, record, "cancelled", NULL);
    } else if (record->status == RUN_RUNNING) {
        run_control_stop(&record->control, how);
        queue_touch(queue);
    }
}

void queue_move(struct queue *queue, struct record *record, size_t place)
{
    queue_take_out(queue->waiting, &queue->waiting_count, record);
    if (place > queue->waiting_count)
        place = queue->waiting_count;
    memmove(&queue->waiting[place + 1], &queue->waiting[place],
            (queue->waiting_count - place) * sizeof(struct record *));
    queue->waiting[place] = record;
    queue->waiting_count++;
    queue_touch(queue);
}
