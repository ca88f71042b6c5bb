/* SPDX-License-Identifier: MIT */
#include "engine/server/task.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "engine/data/data.h"
#include "engine/device/device.h"
#include "engine/server/queue.h"

static void *task_main(void *context)
{
    struct task *task = context;
    task->ok = task->work(task, task->params, &task->result, &task->err);
    if (task->ok && !task->result)
        task->ok = error_memory(&task->err, "answer");
    void (*changed)(void *) = task->changed;
    void *changed_context = task->context;
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
    json_decref(like->id);
    json_decref(like->params);
    return false;
}

void task_finish(struct task *task)
{
    pthread_join(task->thread, NULL);
    pthread_mutex_destroy(&task->lock);
    json_decref(task->id);
    json_decref(task->params);
    json_decref(task->result);
    free(task);
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

bool task_submit(struct task *task, const json_t *params, json_t **result, struct error *err)
{
    struct spec spec;
    long number;
    const char *note = "";
    /* The note is the record's, all else the spec's. */
    json_t *settings = json_object();
    if (!settings || json_object_update(settings, (json_t *)(uintptr_t)params) != 0) {
        json_decref(settings);
        return error_memory(err, "submission");
    }
    json_object_del(settings, "note");
    spec_init(&spec);
    bool ok = json_get_string(params, "note", &note, err) && record_check_note(note, "note", err) &&
              spec_from_json(&spec, settings, err) && spec_validate(&spec, err) &&
              run_resolve(&spec, err) && queue_add(task->queue, &spec, note, &number, err);
    spec_free(&spec);
    json_decref(settings);
    if (ok)
        *result = json_pack("{s:I}", "run", (json_int_t)number);
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
