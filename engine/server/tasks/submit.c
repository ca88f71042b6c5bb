/* SPDX-License-Identifier: MIT */
#include "engine/server/tasks/submit.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/server/devices/free_gpus.h"
#include "engine/server/devices/gpu_survey.h"
#include "engine/server/queue/events.h"
#include "engine/server/queue/queue.h"
#include "engine/server/queue/resume.h"
#include "engine/server/record/labels.h"
#include "engine/train/resolve/optimizer.h"
#include "engine/train/resolve/resolve.h"
#include "spec/data.h"
#include "spec/hosts.h"
#include "spec/json.h"
#include "spec/set.h"

/* Not when CPU devices are named. */
static bool may_want_gpus(const struct device_list *devices)
{
    return devices->choice != DEVICES_LISTED ||
           device_count_kind(devices->id, devices->count, DEVICE_CUDA) > 0;
}

/* Check the spec and complete it; what GPUs there are for it gets into the log. */
static bool resolve(struct task *task, struct spec *spec, struct error *err)
{
    if (!spec_validate(spec, err))
        return false;
    if (may_want_gpus(&spec->devices))
        gpu_survey_ask(task->survey);
    const struct data_watch watch = task_watch(task);
    return free_gpus_settle(task->nvml, spec, NULL, err) && resolve_spec(spec, &watch, err);
}

/* The spec of a run to resume, with its live changes. */
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

/* Pipelines in parallel stay as many where that is possible. */
static void keep_replicas(const json_t *settings, struct spec *spec)
{
    const bool possible = spec->strategy == STRATEGY_PIPELINE &&
                          spec->devices.choice == DEVICES_LISTED &&
                          spec->devices.count % spec->replicas == 0;
    if (!possible && !json_object_get(settings, "replicas"))
        spec->replicas = 1;
}

/* The Slurm job that the run was in is over, or it is another one. A run that is not over hosts
 * stays on its own. */
static bool move_to_job(const json_t *job, const json_t *settings, struct spec *spec,
                        struct error *err)
{
    const char *hosts = json_string_value(json_object_get(job, "hosts"));
    const char *launcher = json_string_value(json_object_get(job, "launcher"));
    if (!job || !spec_has_hosts(spec) || json_object_get(settings, "hosts"))
        return true;
    if (!hosts || !launcher)
        return error_set(err, ERROR_USAGE, "job must have hosts and launcher");
    return spec_set(spec, "launcher", launcher, err) &&
           (json_object_get(settings, "devices") || spec_move_to_hosts(spec, hosts, err));
}

/* Whether the settings name other devices than those of the spec. */
static bool moves(const json_t *settings, const struct spec *spec)
{
    const char *asked = json_string_value(json_object_get(settings, "devices"));
    struct device_list list;
    struct error ignored = ERROR_INIT;
    char *before = asked ? device_list_text(&spec->devices) : NULL;
    char *after =
        asked && device_list_parse(asked, &list, &ignored) ? device_list_text(&list) : NULL;
    const bool same = before && after && strcmp(before, after) == 0;
    free(before);
    free(after);
    return json_object_get(settings, "devices") && !same;
}

/* `settings` are those that change; `job`: the one to resume it in, or NULL. */
static bool resume(struct task *task, long number, const json_t *job, const json_t *settings,
                   json_t **result, struct error *err)
{
    struct spec spec;
    spec_init(&spec);
    bool ok = copy_spec(task, number, &spec, err);
    /* Other devices may have other numbers of threads and other stages. */
    const bool moved = ok && moves(settings, &spec);
    const bool gpus = may_want_gpus(&spec.devices);
    if (moved) {
        spec.cpu_threads = spec.thread_count = 0;
        spec.micro_batches = 0;
        free(spec.stages);
        spec.stages = NULL;
    }
    ok = ok && move_to_job(job, settings, &spec, err) && spec_change(&spec, settings, err);
    /* Those of another kind have another default. */
    if (ok && may_want_gpus(&spec.devices) != gpus && !json_object_get(settings, "dtype"))
        spec.dtype = TYPE_DEFAULT;
    if (ok)
        keep_replicas(settings, &spec);
    ok = ok && (!json_object_get(settings, "optimizer") || resolve_optimizer(&spec, err)) &&
         resolve(task, &spec, err) &&
         queue_resume(task->queue, number, !json_object_get(settings, "lr"), &spec, result, err);
    spec_free(&spec);
    return ok;
}

/* What a submission would come to, or why it would be refused. */
bool task_check(struct task *task, const json_t *params, json_t **result, struct error *err)
{
    const struct data_watch watch = task_watch(task);
    struct spec spec;
    struct dataset shape = {.rows = 0};
    char *name = NULL;
    spec_init(&spec);
    bool ok = spec_from_json(&spec, params, err) &&
              free_gpus_settle(task->nvml, &spec, NULL, err) && resolve_spec(&spec, &watch, err);
    const struct data_request request = spec_data(&spec, &watch);
    ok = ok && data_describe(&request, &shape, NULL, &name, err);
    json_t *object = ok ? spec_to_json(&spec) : NULL;
    long rows = spec_train_rows(&spec, shape.rows);
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

/* Where there is another one now. */
static void take_note(struct queue *queue, long number, const char *note)
{
    pthread_mutex_lock(&queue->lock);
    struct record *record = note ? queue_find(queue, number) : NULL;
    if (record) {
        record_set_note(record, note);
        queue_keep(queue, record);
    }
    pthread_mutex_unlock(&queue->lock);
}

bool task_submit(struct task *task, const json_t *params, json_t **result, struct error *err)
{
    struct spec spec;
    long number = 0;
    const char *note = NULL;
    /* The note is the record's, all else the spec's. */
    json_t *settings = json_object();
    if (!settings || json_object_update(settings, (json_t *)(uintptr_t)params) != 0) {
        json_decref(settings);
        return error_memory(err, "submission");
    }
    json_object_del(settings, "note");
    json_object_del(settings, "resume");
    json_object_del(settings, "job");
    spec_init(&spec);
    bool ok = json_get_long(params, "resume", 1, LONG_MAX, &number, err) &&
              json_get_string(params, "note", &note, err) &&
              record_check_note(note ? note : "", "note", err);
    if (ok && number > 0) {
        ok = resume(task, number, json_object_get(params, "job"), settings, result, err);
        if (ok)
            take_note(task->queue, number, note);
    } else {
        ok = ok && spec_from_json(&spec, settings, err) && resolve(task, &spec, err) &&
             queue_add(task->queue, &spec, note ? note : "", &number, err);
        if (ok)
            *result = json_pack("{s:I}", "run", (json_int_t)number);
    }
    spec_free(&spec);
    json_decref(settings);
    return ok;
}
