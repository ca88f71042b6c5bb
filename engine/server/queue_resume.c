/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/text.h"
#include "engine/server/queue_inside.h"
#include "engine/train/checkpoint.h"

/* Runs that go on from their checkpoints, and those of earlier engines. */

char *queue_checkpoint_folder(const struct queue *queue, long number)
{
    return queue->checkpoints ? text_format("%s/%ld", queue->checkpoints, number) : NULL;
}

json_t *queue_checkpoint_json(struct queue *queue, const struct record *record)
{
    struct error ignored = ERROR_INIT;
    struct stat info;
    long steps;
    char *folder = queue_checkpoint_folder(queue, record->number);
    char *path =
        folder && checkpoint_find(folder, &steps, &ignored) ? checkpoint_path(folder, steps) : NULL;
    bool found = path && stat(path, &info) == 0;
    free(path);
    free(folder);
    return found ? json_pack("{s:I, s:f}", "steps", (json_int_t)steps, "time",
                             (double)info.st_mtim.tv_sec + 1e-9 * (double)info.st_mtim.tv_nsec)
                 : json_null();
}

bool queue_bring(struct queue *queue, struct record *record, struct error *err)
{
    json_t *events = NULL, *points = NULL;
    if (!record->away || !queue_has_ended(record))
        return true;
    if (!keeper_read(queue->keeper, record->number, &events, &points, err))
        return false;
    bool ok = record_bring(record, events, points) || error_memory(err, "run");
    json_decref(events);
    json_decref(points);
    return ok;
}

/* With the lock held: may this run go on? */
static bool check_resumable(const struct queue *queue, const struct record *record, long number,
                            long epochs, struct error *err)
{
    if (!queue_has_ended(record))
        return error_set(err, ERROR_FAILED, "run %ld is %s already", number,
                         record_status_name(record));
    if (record == queue->current)
        return error_set(err, ERROR_FAILED, "run %ld is still being cleared away: try again",
                         number);
    if (epochs < record->epochs_done)
        return error_set(err, ERROR_USAGE, "run %ld has trained %ld epochs: it cannot have fewer",
                         number, record->epochs_done);
    if (queue->leaving)
        return error_set(err, ERROR_FAILED, "the engine is about to end");
    if (queue->waiting_count >= QUEUE_WAITING_LIMIT)
        return error_set(err, ERROR_FAILED, "%d runs wait already: stop some first",
                         QUEUE_WAITING_LIMIT);
    return true;
}

/* With the lock held. What is kept of the run is replaced, so it has to be at hand as a whole. */
static bool resume(struct queue *queue, struct record *record, struct spec *spec, long steps,
                   struct error *err)
{
    json_t *events;
    struct spec old = record->spec;
    if (!queue_bring(queue, record, err))
        return false;
    if (!record_rewind(record, steps, &events))
        return error_memory(err, "run");
    record->spec = *spec;
    record->epochs = spec->epochs;
    *spec = old; /* for the caller to release */
    record->resumes = true;
    queue->waiting[queue->waiting_count++] = record;
    if (queue->keeper) {
        keeper_set_events(queue->keeper, record->number, events);
        keeper_set_points(queue->keeper, record->number, record_points_json(record));
        queue_keep(queue, record);
    } else {
        json_decref(events);
    }
    engine_log(queue->log, MESSAGE_INFO, record->number, "run %ld is to go on behind step %ld",
               record->number, steps);
    queue_touch(queue);
    pthread_cond_signal(&queue->wake);
    return true;
}

bool queue_resume(struct queue *queue, long number, bool same_lr, struct spec *spec,
                  struct error *err)
{
    long steps;
    char *folder = queue_checkpoint_folder(queue, number);
    if (!folder)
        return queue->checkpoints ? error_memory(err, "checkpoints")
                                  : error_set(err, ERROR_FAILED, "no checkpoints are kept here");
    bool found = checkpoint_find(folder, &steps, err);
    bool ready = found && (!same_lr || checkpoint_lr(folder, steps, &spec->lr, err));
    free(folder);
    if (!found && err->kind == ERROR_ABSENT)
        return error_set(err, ERROR_FAILED, "run %ld left no checkpoint to go on from", number);
    if (!ready)
        return false;
    pthread_mutex_lock(&queue->lock);
    struct record *record = queue_recall(queue, number, err);
    bool ok = record && check_resumable(queue, record, number, spec->epochs, err) &&
              resume(queue, record, spec, steps, err);
    pthread_mutex_unlock(&queue->lock);
    return ok;
}
