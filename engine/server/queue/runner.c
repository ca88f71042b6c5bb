/* SPDX-License-Identifier: MIT */
#include "engine/server/queue/runner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/json.h"
#include "engine/energy/meter.h"
#include "engine/hosts/train.h"
#include "engine/server/devices/environment.h"
#include "engine/server/devices/free_gpus.h"
#include "engine/server/queue/announce.h"
#include "engine/server/queue/events.h"
#include "engine/server/queue/resume.h"
#include "engine/server/record/json.h"
#include "engine/server/record/restore.h"
#include "engine/train/checkpoint/deletion.h"
#include "spec/hosts.h"
#include "spec/json.h"

#define MARKS_FOR_ALL 4096

/* The thread that trains, from its begin to its end. */

struct sink_context {
    struct queue *queue;
    struct record *record;
    struct energy_meter *meter; /* NULL: the energy is not known */
};

static void sink_event(void *context, json_t *event)
{
    struct sink_context *sink = context;
    struct queue *queue = sink->queue;
    pthread_mutex_lock(&queue->lock);
    bool news = queue_keep_event(queue, sink->record, event);
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

static void sink_energy_begin(void *context)
{
    const struct sink_context *sink = context;
    energy_meter_begin(sink->meter);
}

static double sink_energy_end(void *context)
{
    const struct sink_context *sink = context;
    return energy_meter_end(sink->meter);
}

/* Those of other hosts have counters of their own, which are not read. */
static struct energy_meter *open_meter(struct queue *queue, const struct spec *spec)
{
    const struct energy_options options = energy_environment();
    return spec_has_hosts(spec)
               ? NULL
               : energy_meter_open(&options, spec->devices.id, spec->devices.count, &queue->held);
}

/* How long a checkpoint waits for the run store. */
#define SYNC_S 5.0

static bool sink_sync(void *context, struct error *err)
{
    const struct sink_context *sink = context;
    return history_sync(sink->queue->history, SYNC_S, err);
}

/* Takes over `environment`, which may be NULL. */
static void keep_environment(struct queue *queue, struct record *record, json_t *environment)
{
    pthread_mutex_lock(&queue->lock);
    json_decref(record->environment);
    record->environment = environment;
    pthread_mutex_unlock(&queue->lock);
}

/* Train, and where a host is lost again, from the newest checkpoint, as often as the spec says. */
static bool train(struct queue *queue, struct record *record, struct run_keep keep,
                  const struct run_sink *sink, struct error *err)
{
    const struct spec *spec = &record->spec;
    struct error failure = ERROR_INIT;
    if (!spec_has_hosts(spec))
        return run_train(spec, record->number, &keep, &record->control, sink, err);
    for (long restarts = 0;; restarts++) {
        if (hosts_train(spec, record->number, &keep, &record->control, sink, err))
            return true;
        if (err->kind != ERROR_LOST || restarts == spec->restarts ||
            run_control_stop_asked(&record->control) != RUN_STOP_NONE ||
            !queue_restart(queue, record, err, restarts + 1, &keep.resume_steps, &failure))
            return false;
        keep.resumes = keep.resume_steps >= 0;
        keep.resume_steps = keep.resumes ? keep.resume_steps : 0;
        keep.measured_from = record->measured_from;
        *err = (struct error)ERROR_INIT;
    }
}

/* How a run without a last word of its own has ended. */
static const char *status_of(bool ok, const struct error *err)
{
    return ok                             ? "done"
           : err->kind == ERROR_CANCELLED ? "stopped"
           : err->kind == ERROR_LOST      ? "interrupted"
                                          : "failed";
}

/* The GPUs that are free now are those of a run that asked for free ones. *choice is a new string,
 * why these, or NULL. */
static bool settle_devices(struct queue *queue, struct record *record, char **choice,
                           struct error *err)
{
    struct spec spec = record->spec;
    if (!free_gpus_settle(queue->nvml, &spec, choice, err))
        return false;
    pthread_mutex_lock(&queue->lock);
    record->spec.devices = spec.devices;
    queue_touch(queue);
    pthread_mutex_unlock(&queue->lock);
    if (*choice)
        engine_log(queue->log, MESSAGE_INFO, record->number, "run %ld: %s", record->number,
                   *choice);
    return true;
}

/* On what a run begins, for the store and for those who ask. */
static void keep_begin(struct queue *queue, struct record *record)
{
    json_t *environment = environment_json(&record->spec, queue->program_version);
    pthread_mutex_lock(&queue->lock);
    history_begin(queue->history);
    queue_begin_resume(queue, record);
    history_put_run(queue->history, record_json(record), spec_to_json(&record->spec),
                    json_deep_copy(environment));
    history_end(queue->history);
    pthread_mutex_unlock(&queue->lock);
    keep_environment(queue, record, environment);
}

/* Called and returns with the lock held. */
static void execute(struct queue *queue, struct record *record)
{
    struct sink_context context = {queue, record, NULL};
    struct run_sink sink = {.event = sink_event,
                            .progress = sink_progress,
                            .energy_begin = sink_energy_begin,
                            .energy_end = sink_energy_end,
                            .context = &context};
    struct error err = ERROR_INIT;
    record->status = RUN_RUNNING;
    record->started_at = clock_date();
    queue->current = record;
    queue_take_out(queue->waiting, &queue->waiting_count, record);
    queue_touch(queue);
    pthread_mutex_unlock(&queue->lock);
    engine_log(queue->log, MESSAGE_INFO, record->number, "run %ld: its turn has come",
               record->number);
    char *choice = NULL;
    bool ok = settle_devices(queue, record, &choice, &err);
    keep_begin(queue, record);
    char *folder = queue_checkpoint_folder(queue, record->number);
    history_take_notice(queue->history, queue->notice);
    const struct run_keep keep = {
        .checkpoints = folder,
        .resumes = record->resumes,
        .resume_steps = record->resume_steps,
        .measured_from = record->measured_from,
        .warnings = {*queue->notice ? queue->notice : NULL, queue->places_note},
        .choice = choice,
        .sync = queue->history ? sink_sync : NULL,
        .sync_context = &context,
    };
    context.meter = ok ? open_meter(queue, &record->spec) : NULL;
    ok = ok && train(queue, record, keep, &sink, &err);
    queue->held |= !energy_meter_close(context.meter);
    if (queue->history)
        *queue->notice = '\0'; /* that a store was set aside is said once */
    free(folder);
    free(choice);
    const bool stopped = !ok && err.kind == ERROR_CANCELLED;
    const char *status = status_of(ok, &err);
    pthread_mutex_lock(&queue->lock);
    bool silent = !record->ended;
    if (silent)
        queue_keep_end(queue, record, status, ok || stopped ? NULL : err.text);
    pthread_mutex_unlock(&queue->lock);
    if (silent)
        engine_log(queue->log, ok ? MESSAGE_WARNING : MESSAGE_ERROR, record->number,
                   "run %ld: %s%s%s", record->number, status, ok ? "" : ": ", err.text);
    pthread_mutex_lock(&queue->lock);
    queue->current = NULL;
    pthread_cond_broadcast(&queue->cleared);
    queue_touch(queue);
    if (record->deleted && record->readers == 0)
        record_free(record);
    queue_trim(queue);
}

static void *run_forever(void *context)
{
    struct queue *queue = context;
    pthread_mutex_lock(&queue->lock);
    while (!queue->leaving) {
        struct record *next = queue_first_waiting(queue);
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

/* Runs of earlier engines. One that cannot be understood is in the store all the same. */
static bool take_past(struct queue *queue, const struct stored_runs *past, struct error *err)
{
    size_t index;
    const json_t *object;
    if (!past)
        return true;
    queue->last_number = past->last_number;
    queue->older = past->older;
    snprintf(queue->notice, sizeof queue->notice, "%s", past->notice);
    if (!queue_make_room(queue, json_array_size(past->runs), err))
        return false;
    json_array_foreach(past->runs, index, object)
    {
        struct record *record = record_restore(object);
        if (record) {
            queue->records[queue->count++] = record;
            continue;
        }
        queue->older++;
        engine_log(queue->log, MESSAGE_WARNING, 0, "run %lld of the store is not understood",
                   (long long)json_integer_value(json_object_get(object, "run")));
    }
    return true;
}

static long raise_number(void *context, long last)
{
    struct queue *queue = context;
    pthread_mutex_lock(&queue->lock);
    if (queue->last_number < last)
        queue->last_number = last;
    queue->deleted_count = 0; /* a backup may have brought them back */
    last = queue->last_number;
    pthread_mutex_unlock(&queue->lock);
    return last;
}

static void warn_current(void *context, const char *text)
{
    struct queue *queue = context;
    json_t *event = json_pack("{s:s, s:o}", "event", "warning", "text", json_any_text(text));
    pthread_mutex_lock(&queue->lock);
    struct record *record = queue_running(queue);
    if (record && event)
        queue_keep_event(queue, record, event);
    pthread_mutex_unlock(&queue->lock);
    json_decref(event);
    queue->changed(queue->context);
}

/* Once it is gone from the store for good. */
static void remove_checkpoints(void *context, long run)
{
    const struct queue *queue = context;
    struct error err = ERROR_INIT;
    char *folder = queue_checkpoint_folder(queue, run);
    if (folder && !checkpoint_remove_marked(folder, &err))
        engine_log(queue->log, MESSAGE_WARNING, run, "%s", err.text);
    free(folder);
}

static void free_records(struct queue *queue)
{
    for (size_t i = 0; i < queue->count; i++)
        record_free(queue->records[i]);
    free(queue->records);
    free(queue->deleted);
}

bool queue_start(struct queue *queue, const char *version, const char *checkpoints,
                 struct engine_log *log, struct history *history, const struct stored_runs *past,
                 void (*changed)(void *context), void *context, struct error *err)
{
    *queue = (struct queue){.program_version = version,
                            .checkpoints = checkpoints,
                            .log = log,
                            .history = history,
                            .changed = changed,
                            .context = context};
    if (!take_past(queue, past, err)) {
        free_records(queue);
        return false;
    }
    event_buffer_init(&queue->marks, 1, MARKS_FOR_ALL);
    atomic_init(&queue->followers, 0);
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->wake, NULL);
    errno = deadline_cond_init(&queue->cleared);
    if (!errno) {
        errno = pthread_create(&queue->runner, NULL, run_forever, queue);
        if (errno)
            pthread_cond_destroy(&queue->cleared);
    }
    if (errno) {
        free_records(queue);
        pthread_cond_destroy(&queue->wake);
        pthread_mutex_destroy(&queue->lock);
        return error_errno(err, "cannot start the thread that trains");
    }
    history_set_owner(
        history, &(struct history_owner){raise_number, warn_current, remove_checkpoints, queue});
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

bool queue_free(struct queue *queue)
{
    struct error ignored = ERROR_INIT;
    pthread_join(queue->runner, NULL);
    /* Until the store has deleted runs, and then until their checkpoints are removed; the next
     * engine removes those that are left. */
    if (queue->deleted_count > 0 && history_sync(queue->history, SYNC_S, &ignored))
        history_sync(queue->history, SYNC_S, &ignored);
    history_set_owner(queue->history, NULL);
    free_records(queue);
    event_buffer_free(&queue->marks);
    pthread_cond_destroy(&queue->cleared);
    pthread_cond_destroy(&queue->wake);
    pthread_mutex_destroy(&queue->lock);
    return !queue->held;
}
