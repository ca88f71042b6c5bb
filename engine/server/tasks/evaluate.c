/* SPDX-License-Identifier: MIT */
#include "engine/server/tasks/evaluate.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/server/devices/free_gpus.h"
#include "engine/server/queue/queue.h"
#include "engine/server/tasks/weights.h"
#include "engine/train/checkpoint/checkpoint.h"
#include "engine/train/run/run.h"
#include "spec/hosts.h"
#include "spec/json.h"
#include "spec/set.h"
#include "system/priority.h"

/* A run that trains nothing, on the task's thread: it tests its initial weights. It is in no queue
 * and leaves no record. */
struct evaluation {
    struct task *task;
    struct run_control control;
    json_t *begin, *end; /* the "run" and the "end" event */
    json_t *warnings, *class_names, *confusion;
    double begin_s, seconds;
};

/* How often a checkpoint is looked for that a running run removes before it is open. */
enum { TRIES = 5 };

static void take_event(void *context, json_t *event)
{
    struct evaluation *evaluation = context;
    const char *name = json_string_value(json_object_get(event, "event"));
    if (strcmp(name, "run") == 0 && !evaluation->begin) {
        evaluation->begin = json_incref(event);
        evaluation->begin_s = clock_seconds();
    } else if (strcmp(name, "warning") == 0) {
        json_array_append(evaluation->warnings, json_object_get(event, "text"));
    } else if (strcmp(name, "end") == 0 && !evaluation->end) {
        evaluation->end = json_incref(event);
        evaluation->seconds = clock_seconds() - evaluation->begin_s;
    }
}

static void take_progress(void *context, const struct run_progress *progress)
{
    struct evaluation *evaluation = context;
    json_t *params = json_pack(
        "{s:s, s:I, s:I}", "phase", progress->phase == PHASE_PREPARE ? "prepare" : "evaluate",
        "done", (json_int_t)progress->evaluated, "total", (json_int_t)progress->test_rows);
    if (!task_report(evaluation->task, params))
        run_control_stop(&evaluation->control, RUN_STOP_NOW);
}

/* A failure to make one of the lists is noticed when they are put together. */
static void take_predictions(void *context, const struct confusion *confusion,
                             const char *const *class_names)
{
    struct evaluation *evaluation = context;
    const int classes = confusion->classes;
    evaluation->confusion = json_array();
    evaluation->class_names = class_names ? json_array() : json_null();
    for (int k = 0; k < classes; k++) {
        json_t *row = json_array();
        for (int i = 0; i < classes; i++)
            json_array_append_new(row, json_integer(confusion->counts[k * classes + i]));
        json_array_append_new(evaluation->confusion, row);
        if (class_names)
            json_array_append_new(evaluation->class_names, json_any_text(class_names[k]));
    }
}

static void release(struct evaluation *evaluation)
{
    json_decref(evaluation->begin);
    json_decref(evaluation->end);
    json_decref(evaluation->warnings);
    json_decref(evaluation->class_names);
    json_decref(evaluation->confusion);
}

/* What the two events say, and what was counted. */
static json_t *result_of(const struct evaluation *evaluation, const struct spec *spec)
{
    static const char *const of_begin[] = {"model",     "data",  "devices",
                                           "test_rows", "dtype", "classes"};
    static const char *const of_end[] = {"test_acc", "test_loss"};
    json_t *result =
        json_pack("{s:o, s:f, s:O, s:O*, s:O*}", "file", json_any_text(spec->init_file), "seconds",
                  evaluation->seconds, "warnings", evaluation->warnings, "class_names",
                  evaluation->class_names, "confusion", evaluation->confusion);
    bool ok = result;
    for (size_t i = 0; ok && i < sizeof of_begin / sizeof *of_begin; i++)
        ok = json_object_set(result, of_begin[i],
                             json_object_get(evaluation->begin, of_begin[i])) == 0;
    for (size_t i = 0; ok && i < sizeof of_end / sizeof *of_end; i++)
        ok = json_object_set(result, of_end[i], json_object_get(evaluation->end, of_end[i])) == 0;
    return json_kept_if(ok, result);
}

static bool evaluate(struct task *task, const struct spec *spec, bool confusion, json_t **result,
                     struct error *err)
{
    struct evaluation evaluation = {.task = task, .warnings = json_array()};
    const struct run_sink sink = {.event = take_event,
                                  .progress = take_progress,
                                  .predictions = confusion ? take_predictions : NULL,
                                  .context = &evaluation};
    run_control_init(&evaluation.control);
    bool ok = run_train(spec, 0, NULL, &evaluation.control, &sink, err);
    if (!ok && err->kind == ERROR_CANCELLED)
        error_set(err, ERROR_CANCELLED, "the evaluation was cancelled");
    *result = ok ? result_of(&evaluation, spec) : NULL;
    release(&evaluation);
    return ok && (*result || error_memory(err, "evaluation"));
}

/* Where a run has been trained; not on several GPUs at once, which the running run may use, and not
 * on several hosts: on the first one's device, of this host. */
static void choose_devices(struct spec *spec)
{
    struct device_list *devices = &spec->devices;
    int one = spec_has_hosts(spec) ? 0 : -1;
    for (int i = devices->count - 1; i >= 0; i--)
        if (devices->id[i].kind == DEVICE_CUDA)
            one = i;
    if (one < 0)
        return;
    devices->id[0] = devices->id[one];
    devices->id[0].host[0] = '\0';
    devices->count = 1;
    devices->free = 0;
    spec->thread_count = 0;
    spec->cpu_threads = 0;
    free(spec->hosts);
    spec->hosts = NULL;
}

static bool copy_spec(struct task *task, long run, struct spec *spec, struct error *err)
{
    pthread_mutex_lock(&task->queue->lock);
    const struct record *record = queue_recall(task->queue, run, err);
    bool ok = record && spec_copy(spec, &record->spec, err);
    pthread_mutex_unlock(&task->queue->lock);
    return ok;
}

/*
 * Open the weights that `params` name, which become those to begin with by the name of the open
 * file: a run that trains may remove its checkpoint while it is read. Returns the descriptor, and
 * the path as a new string; -1: *err.
 */
static int open_weights(struct spec *spec, const json_t *params, char **path, struct error *err)
{
    int file = -1;
    for (int i = 0; i < TRIES && file < 0; i++) {
        *err = (struct error)ERROR_INIT;
        free(*path);
        *path = weights_path(params, err);
        file = *path ? open(*path, O_RDONLY | O_CLOEXEC) : -1;
        if (*path && file < 0)
            error_errno(err, "%s: cannot open", *path);
    }
    free(spec->init_file);
    spec->init = INIT_FILE;
    spec->init_file = file < 0 ? NULL : text_format("/proc/self/fd/%d", file);
    if (file >= 0 && !spec->init_file)
        error_memory(err, "evaluation");
    return file;
}

static bool evaluate_checkpoint(struct task *task, struct spec *spec, const json_t *params,
                                bool confusion, json_t **result, struct error *err)
{
    json_t *note = NULL;
    char *path = NULL;
    int file = open_weights(spec, params, &path, err);
    bool ok = file >= 0 && spec->init_file && checkpoint_note(spec->init_file, &note, err) &&
              evaluate(task, spec, confusion, result, err);
    if (ok && (json_object_set(*result, "checkpoint", note) != 0 ||
               json_object_set_new(*result, "file", json_any_text(path)) != 0)) {
        json_decref(*result);
        *result = NULL;
        ok = error_memory(err, "evaluation");
    }
    if (file >= 0)
        close(file);
    json_decref(note);
    free(path);
    return ok;
}

/* Of a run: its own spec, with the weights of a checkpoint. */
static bool evaluate_run(struct task *task, long run, const json_t *params, bool confusion,
                         json_t **result, struct error *err)
{
    struct spec spec;
    spec_init(&spec);
    bool ok = copy_spec(task, run, &spec, err) && spec_leave_training_out(&spec, err);
    choose_devices(&spec);
    ok = ok && evaluate_checkpoint(task, &spec, params, confusion, result, err);
    spec_free(&spec);
    return ok;
}

/* Of a spec whose `init` is a file. */
static bool evaluate_spec(struct task *task, json_t *settings, bool confusion, json_t **result,
                          struct error *err)
{
    struct spec spec;
    spec_init(&spec);
    bool ok = spec_from_json(&spec, settings, err) && spec_leave_training_out(&spec, err) &&
              spec_validate(&spec, err);
    if (ok && spec.init != INIT_FILE)
        ok = error_set(err, ERROR_USAGE, "'run' or 'init', a file of weights, is missing");
    ok = ok && free_gpus_settle(task->nvml, &spec, NULL, err) &&
         evaluate(task, &spec, confusion, result, err);
    spec_free(&spec);
    return ok;
}

bool task_evaluate(struct task *task, const json_t *params, json_t **result, struct error *err)
{
    static const char *const own[] = {"run", "best", "confusion", "background"};
    bool confusion = false, background = false;
    long run = 0;
    if (!json_get_bool(params, "confusion", &confusion, err) ||
        !json_get_bool(params, "background", &background, err) ||
        !json_get_long(params, "run", 1, LONG_MAX, &run, err))
        return false;
    if (background)
        priority_lower();
    if (run > 0)
        return evaluate_run(task, run, params, confusion, result, err);
    json_t *settings = json_copy((json_t *)(uintptr_t)params);
    if (!settings)
        return error_memory(err, "evaluation");
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        json_object_del(settings, own[i]);
    bool ok = evaluate_spec(task, settings, confusion, result, err);
    json_decref(settings);
    return ok;
}
