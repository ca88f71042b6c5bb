/* SPDX-License-Identifier: MIT */
#include "engine/server/queue/resume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/deadline.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/hosts/train.h"
#include "engine/server/queue/events.h"
#include "engine/server/record/restore.h"
#include "engine/train/checkpoint/checkpoint.h"
#include "spec/likeness.h"

/* How long a run that has ended may take to be cleared away before it is not resumed. */
static const double CLEARING_S = HOSTS_CLEARING_S;

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

static bool read_past(struct queue *queue, long number, struct record_past *past, struct error *err)
{
    json_t *events = NULL, *points = NULL;
    if (!history_read(queue->history, number, RECORD_MARKS, &events, &points, err))
        return false;
    bool ok = record_past_read(past, events, points) || error_memory(err, "run");
    json_decref(events);
    json_decref(points);
    return ok;
}

bool queue_load(struct queue *queue, struct record *record, struct error *err)
{
    struct record_past past;
    long number = record->number;
    if (!record->away || !queue_has_ended(record))
        return true;
    record->readers++;
    pthread_mutex_unlock(&queue->lock);
    bool ok = read_past(queue, number, &past, err);
    pthread_mutex_lock(&queue->lock);
    record->readers--;
    bool deleted = record->deleted;
    if (ok && !deleted && record->away && queue_has_ended(record)) {
        record_load(record, &past);
        ok = queue_add_lost_end(record) || error_memory(err, "run");
    } else if (ok) {
        record_past_free(&past);
    }
    if (deleted && record->readers == 0 && record != queue->current)
        record_free(record);
    return ok && (!deleted || error_set(err, ERROR_FAILED, "run %ld is gone: try again", number));
}

/* Had it ended, other than done, before its first checkpoint was written? A best epoch has one. */
static bool ended_before_checkpoints(const struct record *record)
{
    return record->status != RUN_DONE &&
           record->epochs_done <= (record->spec.checkpoint_epochs > 0 ? 1 : 0);
}

static bool is_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The setting by which pictures would become other rows, or NULL. */
static const char *other_pictures(const struct picture_settings *a,
                                  const struct picture_settings *b)
{
    return a->width != b->width || a->height != b->height ? "image-size"
           : a->colour != b->colour                       ? "image-colour"
           : a->test_share != b->test_share               ? "test-share"
           : a->skip_broken != b->skip_broken             ? "skip-broken"
                                                          : NULL;
}

/* A checkpoint fits its own run only: what it was trained on stays. */
static bool check_settings(const struct spec *old, const struct spec *spec, long number, long steps,
                           struct error *err)
{
    const char *other = spec->batch != old->batch              ? "batch"
                        : spec->seed != old->seed              ? "seed"
                        : spec->train_rows != old->train_rows  ? "train-rows"
                        : spec->validation != old->validation  ? "validation"
                        : !is_same_text(spec->data, old->data) ? "data"
                        : !is_same_text(spec->model, old->model)
                            ? "model"
                            : other_pictures(&spec->pictures, &old->pictures);
    if (other)
        return error_set(err, ERROR_USAGE,
                         "run %ld resumes from its checkpoint with its own '%s' only: start a new "
                         "run for another",
                         number, other);
    return spec->max_steps == 0 || spec->max_steps >= steps ||
           error_set(err, ERROR_USAGE, "run %ld has trained %ld step%s: it cannot have fewer",
                     number, steps, plural(steps));
}

/* Does it end at once, as it did, for its accuracy? */
static bool ends_early(const struct record *record, const struct spec *spec,
                       const struct checkpoint_place *place)
{
    const struct spec *old = &record->spec;
    const bool by_steps = old->max_steps > 0 && old->max_steps <= place->steps;
    return *record->reason && !by_steps && spec->patience == old->patience &&
           spec->stop_at_acc == old->stop_at_acc;
}

/* A run that is done leaves nothing to train, but its weights may be wanted in another file. */
static bool check_training_left(const struct record *record, const struct spec *spec,
                                const struct checkpoint_place *place, struct error *err)
{
    if (record->status != RUN_DONE || !is_same_text(spec->save, record->spec.save))
        return true;
    if (ends_early(record, spec, place))
        return error_set(err, ERROR_USAGE,
                         "run %ld is done, it ended early (%s): resume it with another patience or "
                         "stop-at-acc",
                         record->number, record->reason);
    if (spec->max_steps > 0 && spec->max_steps <= place->steps)
        return error_set(err, ERROR_USAGE,
                         "run %ld is done, after step %ld: resume it with a larger max-steps",
                         record->number, place->steps);
    return spec->epochs > place->epochs ||
           error_set(err, ERROR_USAGE,
                     "run %ld is done, it has trained %ld epoch%s: resume it with more",
                     record->number, place->epochs, plural(place->epochs));
}

static long epochs_begun(const struct checkpoint_place *place)
{
    return place->epochs + (place->epoch.steps > 0);
}

/* With the lock held: may this run be resumed? */
static bool check_resumable(const struct queue *queue, const struct record *record, long number,
                            const struct spec *spec, const struct checkpoint_place *place,
                            struct error *err)
{
    const long steps = place->steps; /* < 0: it left no checkpoint */
    if (!queue_has_ended(record))
        return error_set(err, ERROR_FAILED, "run %ld is %s already", number,
                         record_status_name(record));
    if (record == queue->current)
        return error_set(err, ERROR_FAILED, "run %ld is still being cleared away: try again",
                         number);
    if (steps < 0 && !ended_before_checkpoints(record))
        return error_set(err, ERROR_FAILED,
                         "run %ld left no checkpoint to resume from: 'dpartui show %ld' lists its "
                         "settings for a new run",
                         number, number);
    if (steps >= 0 && spec->epochs < epochs_begun(place))
        return error_set(err, ERROR_USAGE, "run %ld has begun %ld epoch%s: it cannot have fewer",
                         number, epochs_begun(place), plural(epochs_begun(place)));
    if (queue->leaving)
        return error_set(err, ERROR_FAILED, "the engine is about to end");
    if (queue->waiting_count >= QUEUE_WAITING_LIMIT)
        return error_set(err, ERROR_FAILED, "%d runs wait already: stop some first",
                         QUEUE_WAITING_LIMIT);
    return steps < 0 || (check_settings(&record->spec, spec, number, steps, err) &&
                         check_training_left(record, spec, place, err));
}

/* What measured_from becomes where a run resumes; no place: at its beginning. */
static long count_from(const struct record *record, const struct spec *spec,
                       const struct checkpoint_place *place)
{
    if (!place || place->steps == 0)
        return 0;
    const long next = place->epochs + 1 + (place->epoch.steps > 0);
    return record->measured_from > next || !spec_is_as_fast(spec, &record->spec)
               ? next
               : record->measured_from;
}

/* With the lock held. No place: the run starts from its beginning. The store learns of it when its
 * turn has come. */
static bool resume(struct queue *queue, struct record *record, struct spec *spec,
                   const struct checkpoint_place *place, struct error *err)
{
    const long steps = place ? place->steps : -1;
    if (!record_keep(record))
        return error_memory(err, "run");
    if (!record_rewind(record, place, count_from(record, spec, place))) {
        free(record->before); /* the spec is still the run's */
        record->before = NULL;
        return error_memory(err, "run");
    }
    record->spec = *spec;
    record->likeness = spec_likeness(spec);
    record->epochs = spec->epochs;
    record->lr = spec->lr;
    spec_init(spec);
    run_control_init(&record->control);
    record->resumes = steps >= 0;
    record->resume_steps = steps > 0 ? steps : 0;
    record->resume_epochs = place ? epochs_begun(place) : 0;
    queue->waiting[queue->waiting_count++] = record;
    if (record->resumes)
        engine_log(queue->log, MESSAGE_INFO, record->number, "run %ld resumes after step %ld",
                   record->number, steps);
    else
        engine_log(queue->log, MESSAGE_INFO, record->number,
                   "run %ld left no checkpoint: it starts from its beginning", record->number);
    queue_touch(queue);
    pthread_cond_signal(&queue->wake);
    return true;
}

void queue_begin_resume(struct queue *queue, struct record *record)
{
    if (record->before)
        history_rewind(queue->history, record->number, record->resumes ? record->resume_steps : -1);
    if (record->before && !record->resumes)
        warnings_free(&record->warnings);
    record_forget(record);
}

void queue_undo_resume(struct queue *queue, struct record *record)
{
    queue_tell_end(queue, record, "stopped");
    record_return(record);
    /* Its events are there as they were. */
    record->away = queue->history != NULL;
    queue_edited(queue);
}

/* Where the newest checkpoint of a run is; its `steps` are -1 when the run has none. */
static bool find_checkpoint(const struct queue *queue, long number, struct checkpoint_place *place,
                            struct error *err)
{
    long steps;
    char *folder = queue_checkpoint_folder(queue, number);
    if (!folder)
        return queue->checkpoints ? error_memory(err, "checkpoints")
                                  : error_set(err, ERROR_FAILED, "no checkpoints are kept here");
    struct error damage; /* the run itself warns of it */
    bool ok = checkpoint_find_whole(folder, &steps, &damage, err);
    if (ok) {
        ok = checkpoint_read_place(folder, steps, place, err);
    } else if (err->kind == ERROR_ABSENT) {
        *err = (struct error)ERROR_INIT;
        *place = (struct checkpoint_place){.steps = -1};
        ok = true;
    }
    free(folder);
    return ok;
}

/* A run that has just ended is cleared away in a moment. */
static void wait_until_cleared(struct queue *queue, long number)
{
    const struct timespec deadline = deadline_after(CLEARING_S);
    int status = 0;
    pthread_mutex_lock(&queue->lock);
    while (status == 0 && queue->current && queue->current->number == number &&
           queue_has_ended(queue->current))
        status = pthread_cond_timedwait(&queue->cleared, &queue->lock, &deadline);
    pthread_mutex_unlock(&queue->lock);
}

/* With the lock held. */
static void tell_restart(struct queue *queue, struct record *record, const struct error *why,
                         long number, long steps)
{
    char text[1400], from[64] = "its beginning";
    if (steps >= 0)
        snprintf(from, sizeof from, "the checkpoint of step %ld", steps);
    snprintf(text, sizeof text, "%s: restart %ld of %ld, from %s", why->text, number,
             record->spec.restarts, from);
    json_t *event = json_pack("{s:s, s:o}", "event", "warning", "text", json_any_text(text));
    if (event)
        queue_keep_event(queue, record, event);
    json_decref(event);
    engine_log(queue->log, MESSAGE_WARNING, record->number, "run %ld: %s", record->number, text);
}

bool queue_restart(struct queue *queue, struct record *record, const struct error *why, long number,
                   long *steps, struct error *err)
{
    struct checkpoint_place place;
    if (!find_checkpoint(queue, record->number, &place, err))
        return false;
    *steps = place.steps;
    pthread_mutex_lock(&queue->lock);
    const struct checkpoint_place *from = place.steps >= 0 ? &place : NULL;
    const long epochs = record->epochs;
    const double lr = record->lr;
    bool ok = record_rewind(record, from, count_from(record, &record->spec, from));
    if (ok) {
        /* What was changed while it trained stays; so does what has been asked of it since. */
        if (epochs > record->spec.epochs)
            record->spec.epochs = record->epochs = epochs;
        else if (epochs < record->epochs)
            run_control_keep_epochs(&record->control, epochs);
        record->spec.lr = record->lr = lr;
        if (!from)
            warnings_free(&record->warnings);
        record->status = RUN_RUNNING;
        history_begin(queue->history);
        history_rewind(queue->history, record->number, place.steps);
        queue_keep(queue, record);
        history_end(queue->history);
        tell_restart(queue, record, why, number, place.steps);
    }
    pthread_mutex_unlock(&queue->lock);
    return ok || error_memory(err, "run");
}

bool queue_resume(struct queue *queue, long number, bool same_lr, struct spec *spec,
                  json_t **result, struct error *err)
{
    struct checkpoint_place place;
    wait_until_cleared(queue, number);
    if (!find_checkpoint(queue, number, &place, err))
        return false;
    bool found = place.steps >= 0;
    if (found && same_lr)
        spec->lr = place.lr;
    pthread_mutex_lock(&queue->lock);
    struct record *record = queue_recall(queue, number, err);
    bool ok = record && queue_load(queue, record, err) &&
              check_resumable(queue, record, number, spec, &place, err) &&
              resume(queue, record, spec, found ? &place : NULL, err);
    if (ok)
        *result = json_pack("{s:I, s:I, s:o}", "run", (json_int_t)number, "from",
                            (json_int_t)record->events.next, "resumed_at",
                            found ? json_integer(place.steps) : json_null());
    pthread_mutex_unlock(&queue->lock);
    return ok;
}
