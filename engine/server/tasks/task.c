/* SPDX-License-Identifier: MIT */
#include "engine/server/tasks/task.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "engine/data/data.h"
#include "engine/device/device.h"
#include "engine/server/devices/gpu_survey.h"
#include "engine/server/queue/queue.h"

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
        errno = pthread_create(&task->thread, NULL, task_main, task);
        if (!errno) {
            *out = task;
            return true;
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

void task_finish(struct task *task)
{
    pthread_join(task->thread, NULL);
    pthread_mutex_destroy(&task->lock);
    json_decref(task->request.id);
    json_decref(task->request.params);
    json_decref(task->result);
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

bool task_take_progress(struct task *task, json_t **params)
{
    pthread_mutex_lock(&task->lock);
    bool has = task->has_progress;
    const struct fetch_progress *p = &task->progress;
    if (has)
        *params =
            json_pack("{s:s, s:i, s:i, s:I, s:I, s:o, s:s}", "file", task->file, "index", p->index,
                      "count", p->count, "done", (json_int_t)p->done, "total", (json_int_t)p->total,
                      "bytes_per_s", json_finite(p->bytes_per_s), "phase", p->phase);
    task->has_progress = false;
    pthread_mutex_unlock(&task->lock);
    return has;
}

/* Not when CPU devices are named. */
static bool may_want_gpus(const struct device_list *devices)
{
    bool may = devices->choice != DEVICES_LISTED;
    for (int i = 0; i < devices->count && !may; i++)
        may = devices->id[i].kind == DEVICE_CUDA;
    return may;
}

/* Check the spec and complete it; what GPUs there are for it gets into the log. */
static bool resolve(struct task *task, struct spec *spec, struct error *err)
{
    if (!spec_validate(spec, err))
        return false;
    if (may_want_gpus(&spec->devices))
        gpu_survey_ask(task->survey);
    return run_resolve(spec, err);
}

/* The spec of a run that is to be resumed, as it was retuned. */
static bool copy_spec(struct task *task, long number, struct spec *spec, struct error *err)
{
    pthread_mutex_lock(&task->queue->lock);
    const struct record *record = queue_recall(task->queue, number, err);
    bool ok = record && spec_copy(spec, &record->spec, err);
    if (!record && err->kind == ERROR_ABSENT)
        err->kind = ERROR_USAGE;
    if (ok)
        spec->epochs = record->epochs;
    pthread_mutex_unlock(&task->queue->lock);
    return ok;
}

/* `settings` are what is to be other than before. */
static bool resume(struct task *task, long number, const json_t *settings, json_t **result,
                   struct error *err)
{
    struct spec spec;
    spec_init(&spec);
    /* Other devices may have other numbers of threads and another type. */
    bool moved = json_object_get(settings, "devices") != NULL;
    bool ok = copy_spec(task, number, &spec, err);
    if (ok && moved) {
        spec.cpu_threads = spec.thread_count = 0;
        spec.dtype = TYPE_DEFAULT;
    }
    ok = ok && spec_change(&spec, settings, err) && resolve(task, &spec, err) &&
         queue_resume(task->queue, number, !json_object_get(settings, "lr"), &spec, result, err);
    spec_free(&spec);
    return ok;
}

/* What a submission would come to, or why it would be refused. */
bool task_check(struct task *task, const json_t *params, json_t **result, struct error *err)
{
    (void)task;
    struct spec spec;
    struct dataset shape = {.rows = 0};
    char *name = NULL;
    spec_init(&spec);
    bool ok = spec_from_json(&spec, params, err) && run_resolve(&spec, err) &&
              data_describe(spec.data, spec.data_dir, &shape, NULL, &name, err);
    json_t *object = ok ? spec_to_json(&spec) : NULL;
    long rows = spec.train_rows ? spec.train_rows : shape.rows;
    spec_free(&spec);
    free(name);
    if (!ok)
        return false;
    if (!object || json_object_set_new(object, "train_rows", json_integer(rows)) != 0) {
        json_decref(object);
        return error_memory(err, "check");
    }
    *result = object;
    return true;
}

bool task_submit(struct task *task, const json_t *params, json_t **result, struct error *err)
{
    struct spec spec;
    long number = 0;
    const char *note = "";
    /* The note is the record's, all else the spec's. */
    json_t *settings = json_object();
    if (!settings || json_object_update(settings, (json_t *)(uintptr_t)params) != 0) {
        json_decref(settings);
        return error_memory(err, "submission");
    }
    json_object_del(settings, "note");
    json_object_del(settings, "resume");
    spec_init(&spec);
    bool ok = json_get_long(params, "resume", 1, LONG_MAX, &number, err);
    if (ok && number > 0) {
        ok = resume(task, number, settings, result, err);
    } else {
        ok = ok && json_get_string(params, "note", &note, err) &&
             record_check_note(note, "note", err) && spec_from_json(&spec, settings, err) &&
             resolve(task, &spec, err) && queue_add(task->queue, &spec, note, &number, err);
        if (ok)
            *result = json_pack("{s:I}", "run", (json_int_t)number);
    }
    spec_free(&spec);
    json_decref(settings);
    return ok;
}

static bool report_fetch(void *context, const struct fetch_progress *progress)
{
    struct task *task = context;
    pthread_mutex_lock(&task->lock);
    task->progress = *progress;
    snprintf(task->file, sizeof task->file, "%s", progress->file ? progress->file : "");
    task->has_progress = true;
    pthread_mutex_unlock(&task->lock);
    task->changed(task->context);
    return !atomic_load(&task->cancelled);
}

bool task_fetch(struct task *task, const json_t *params, json_t **result, struct error *err)
{
    const char *dataset = NULL, *directory = NULL, *from = NULL;
    if (!json_get_string(params, "dataset", &dataset, err) ||
        !json_get_string(params, "data_dir", &directory, err) ||
        !json_get_string(params, "from", &from, err))
        return false;
    if (!dataset)
        return error_set(err, ERROR_USAGE, "'dataset' is missing");
    if (directory && directory[0] != '/')
        return error_set(err, ERROR_USAGE, "'data_dir' must be an absolute path");
    char *parent = data_directory(directory, err);
    bool ok = parent && fetch_dataset(dataset, parent, from, report_fetch, task, err);
    char *folder = ok ? path_join(parent, dataset) : NULL;
    if (folder)
        *result = json_pack("{s:o}", "folder", json_any_text(folder));
    else if (ok)
        ok = error_memory(err, "data directory");
    free(folder);
    free(parent);
    return ok;
}
