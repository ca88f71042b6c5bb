/* SPDX-License-Identifier: MIT */
/*
 * Stands in for engine/train and the backends when the server is tested: a scripted run that emits
 * what a real one does, quickly. The run's settings steer it:
 *   model "slow"   every step takes 5 ms      model "fail"   the third step fails
 *   model "wrong"  resolve_spec refuses it     model "mute"   no "end" event at the end
 *   train-rows     with batch: steps per epoch; 0: 10 steps per epoch
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "engine/backends/choice.h"
#include "engine/backends/registry.h"
#include "engine/device/device.h"
#include "engine/train/resolve/resolve.h"
#include "engine/train/run/run.h"
#include "spec/json.h"

static bool fake_enumerate(struct device_info *list, int capacity, int *count, char *why,
                           size_t why_size, struct error *err)
{
    (void)why;
    (void)why_size;
    if (capacity < 1)
        return error_set(err, ERROR_FAILED, "no room for a device");
    list[0] = (struct device_info){.id = {DEVICE_CPU, 0},
                                   .name = "made up",
                                   .cores = 2,
                                   .memory_bytes = 1 << 30,
                                   .available = true};
    *count = 1;
    return true;
}

/* As many as FAKE_GPUS says, those of tests/fakes/fake_nvml.c. */
static bool enumerate_gpus(struct device_info *list, int capacity, int *count, char *why,
                           size_t why_size, struct error *err)
{
    const char *number = getenv("FAKE_GPUS");
    (void)why;
    (void)why_size;
    (void)err;
    for (*count = 0; number && *count < atoi(number) && *count < capacity; ++*count) {
        struct device_info *info = &list[*count];
        *info = (struct device_info){.id = {DEVICE_CUDA, *count}, .available = true};
        snprintf(info->uuid, sizeof info->uuid, "GPU-%02d000000-0000-4000-8000-000000000000",
                 *count);
    }
    return true;
}

static bool fake_open(const struct device_options *options, struct device **out, struct error *err)
{
    (void)options;
    (void)out;
    return error_set(err, ERROR_FAILED, "cpu:0: a made-up device cannot be opened");
}

const struct backend *backend_find(enum device_kind kind, const char **why)
{
    static const struct backend cpu = {
        .kind = DEVICE_CPU, .enumerate = fake_enumerate, .open = fake_open};
    static const struct backend gpus = {
        .kind = DEVICE_CUDA, .enumerate = enumerate_gpus, .open = fake_open};
    *why = "not in this test";
    return kind == DEVICE_CPU ? &cpu : getenv("FAKE_GPUS") ? &gpus : NULL;
}

bool resolve_spec(struct spec *spec, const struct data_watch *watch, struct error *err)
{
    (void)watch;
    struct device_id ids[SPEC_MAX_DEVICES];
    int count;
    if (!devices_resolve(&spec->devices, ids, &count, err))
        return false;
    spec->devices.choice = DEVICES_LISTED;
    spec->devices.count = count;
    memcpy(spec->devices.id, ids, (size_t)count * sizeof *ids);
    if (spec->model && strcmp(spec->model, "wrong") == 0)
        return error_set(err, ERROR_USAGE, "model 'wrong' is impossible");
    if (!spec->model && !(spec->model = strdup("linear")))
        return error_memory(err, "model");
    if (!spec->data && !(spec->data = strdup("glyphs")))
        return error_memory(err, "data");
    return true;
}

struct script {
    const struct spec *spec;
    struct run_control *control;
    const struct run_sink *sink;
    struct run_device devices[SPEC_MAX_DEVICES];
    struct run_progress progress;
    double reported;
    long rows; /* of an epoch */
    int slow_ms;
    bool stops_after_epoch;
};

static void emit(const struct script *script, json_t *event)
{
    script->sink->event(script->sink->context, event);
    json_decref(event);
}

static void report(struct script *script, enum run_phase phase)
{
    double now = clock_seconds();
    if (phase == script->progress.phase && now - script->reported < 0.05)
        return;
    script->reported = now;
    script->progress.phase = phase;
    script->sink->progress(script->sink->context, &script->progress);
}

static void nap(int milliseconds)
{
    struct timespec time = {.tv_nsec = milliseconds * 1000000L};
    nanosleep(&time, NULL);
}

static void begin(struct script *script, long number, const char *choice)
{
    const struct spec *spec = script->spec;
    long rows = spec->train_rows ? spec->train_rows : 10 * spec->batch;
    script->rows = rows;
    struct run_progress *p = &script->progress;
    *p = (struct run_progress){.phase = PHASE_ENDED,
                               .epochs = spec->epochs,
                               .steps_per_epoch = (rows + spec->batch - 1) / spec->batch,
                               .lr = spec->lr,
                               .eta_s = NAN,
                               .device_count = spec->devices.count,
                               .devices = script->devices};
    p->total_steps = p->steps_per_epoch * spec->epochs;
    for (int i = 0; i < spec->devices.count; i++)
        script->devices[i] =
            (struct run_device){.id = spec->devices.id[i], .state = "prepare", .rows = spec->batch};
    report(script, PHASE_PREPARE);
    json_t *event =
        json_pack("{s:s, s:I, s:[s], s:I, s:I, s:I, s:i, s:i, s:s}", "event", "run", "run",
                  (json_int_t)number, "devices", "cpu:0", "params", (json_int_t)7850, "total_steps",
                  (json_int_t)p->total_steps, "train_rows", (json_int_t)rows, "test_rows", 10,
                  "classes", 2, "dtype", "f32");
    json_t *settings = spec_to_json(spec);
    json_object_update_missing(event, settings);
    if (choice)
        json_object_set_new(event, "choice", json_string(choice));
    json_decref(settings);
    emit(script, event);
}

static void retune(const struct script *script, const char *what, json_t *from, json_t *to)
{
    const struct run_progress *p = &script->progress;
    emit(script, json_pack("{s:s, s:I, s:I, s:s, s:o*, s:o*}", "event", "retune", "epoch",
                           (json_int_t)p->epoch, "step", (json_int_t)p->step, "what", what, "from",
                           from, "to", to));
}

static void take_changes(struct script *script)
{
    struct run_progress *p = &script->progress;
    double lr = atomic_exchange(&script->control->lr, 0.0);
    long epochs = atomic_exchange(&script->control->epochs, 0);
    bool stops = atomic_load(&script->control->stop) == RUN_STOP_EPOCH;
    if (lr > 0) {
        retune(script, "lr", json_real(p->lr), json_real(lr));
        p->lr = lr;
    }
    if (epochs > 0) {
        retune(script, "epochs", json_integer(p->epochs), json_integer(epochs));
        p->epochs = epochs;
        p->total_steps = epochs * p->steps_per_epoch;
    }
    if (stops != script->stops_after_epoch)
        retune(script, stops ? "stop_after_epoch" : "go_on", NULL, NULL);
    script->stops_after_epoch = stops;
}

/* False: stopped or failed. */
static bool step(struct script *script, struct error *err)
{
    struct run_progress *p = &script->progress;
    bool paused = atomic_load(&script->control->paused);
    if (paused)
        retune(script, "pause", NULL, NULL);
    while (atomic_load(&script->control->paused) &&
           atomic_load(&script->control->stop) < RUN_STOP_STEP)
        nap(1);
    if (paused)
        retune(script, "resume", NULL, NULL);
    take_changes(script);
    if (script->slow_ms)
        nap(script->slow_ms);
    if (atomic_load(&script->control->stop) >= RUN_STOP_STEP)
        return error_set(err, ERROR_CANCELLED, "stopped");
    long left = script->rows - p->epoch_step * script->spec->batch;
    long rows = left < script->spec->batch ? left : script->spec->batch;
    p->step++;
    p->epoch_step++;
    p->samples_per_s = 1000;
    if (strcmp(script->spec->model, "fail") == 0 && p->step == 3)
        return error_set(err, ERROR_FAILED, "cpu:0: step 3 fails, as it should");
    report(script, PHASE_TRAIN);
    emit(script,
         json_pack("{s:s, s:I, s:I, s:I, s:[I], s:f, s:I, s:f, s:f}", "event", "step", "epoch",
                   (json_int_t)p->epoch, "step", (json_int_t)p->step, "rows", (json_int_t)rows,
                   "shards", (json_int_t)rows, "loss", 2.0 / (double)p->step, "correct",
                   (json_int_t)(p->step % (rows + 1)), "lr", p->lr, "seconds", 0.001));
    return true;
}

static bool train_epochs(struct script *script, struct error *err)
{
    struct run_progress *p = &script->progress;
    for (p->epoch = 1; p->epoch <= p->epochs; p->epoch++) {
        for (p->epoch_step = 0; p->epoch_step < p->steps_per_epoch;)
            if (!step(script, err))
                return false;
        report(script, PHASE_EVAL);
        emit(script,
             json_pack("{s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:[{s:s, s:I}]}", "event",
                       "epoch", "epoch", (json_int_t)p->epoch, "step", (json_int_t)p->step,
                       "train_loss", 1.0, "train_acc", 0.5, "test_loss", 1.0, "test_acc",
                       1 - 0.5 / (double)p->epoch, "seconds", 0.5, "samples_per_s", 1000.0,
                       "devices", "device", "cpu:0", "rows", (json_int_t)10));
        if (atomic_load(&script->control->stop) == RUN_STOP_EPOCH)
            return error_set(err, ERROR_CANCELLED, "stopped after its epoch");
    }
    p->epoch = p->epochs;
    return true;
}

/* A run of no epochs, of which there may be one that only ends when it is stopped. */
static bool evaluate(struct script *script, struct error *err)
{
    long counts[] = {5, 1, 2, 2};
    const struct confusion confusion = {.classes = 2, .counts = counts};
    const char *const names[] = {"yes", "n\xffo"};
    struct run_progress *p = &script->progress;
    p->evaluated = 10;
    p->test_rows = 10;
    report(script, PHASE_EVAL);
    while (strcmp(script->spec->model, "endless") == 0) {
        nap(1);
        report(script, PHASE_EVAL);
        if (atomic_load(&script->control->stop) == RUN_STOP_NOW)
            return error_set(err, ERROR_CANCELLED, "stopped");
    }
    if (script->sink->predictions)
        script->sink->predictions(script->sink->context, &confusion, names);
    return true;
}

bool run_train(const struct spec *spec, long run_number, const struct run_keep *keep,
               struct run_control *control, const struct run_sink *sink, struct error *err)
{
    struct script script = {.spec = spec, .control = control, .sink = sink};
    script.slow_ms = strcmp(spec->model, "slow") == 0 ? 5 : 0;
    begin(&script, run_number, keep ? keep->choice : NULL);
    bool ok = spec->epochs > 0 ? train_epochs(&script, err) : evaluate(&script, err);
    const char *status = ok ? "done" : err->kind == ERROR_CANCELLED ? "stopped" : "failed";
    json_t *end = json_pack("{s:s, s:s, s:I, s:I, s:f, s:f, s:f, s:f}", "event", "end", "status",
                            status, "epochs", (json_int_t)(script.progress.epoch), "steps",
                            (json_int_t)script.progress.step, "test_acc", 0.9, "test_loss", 0.3,
                            "s_per_epoch", 0.5, "samples_per_s", 1000.0);
    if (!ok && err->kind != ERROR_CANCELLED)
        json_object_set_new(end, "error", json_string(err->text));
    if (strcmp(spec->model, "mute") == 0)
        json_decref(end);
    else
        emit(&script, end);
    return ok;
}
