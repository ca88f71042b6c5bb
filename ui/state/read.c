/* SPDX-License-Identifier: MIT */
#include "ui/state/read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "ui/state/setting.h"

double read_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) && isfinite(json_number_value(value)) ? json_number_value(value)
                                                                       : NAN;
}

double read_amount(const json_t *object, const char *key)
{
    double value = read_number(object, key);
    return value >= 0 ? value : NAN;
}

void read_text(const json_t *object, const char *key, char *buffer, size_t size)
{
    const char *value = json_string_value(json_object_get(object, key));
    if ((size_t)snprintf(buffer, size, "%s", value ? value : "") >= size)
        utf8_trim(buffer);
}

long read_run_number(const json_t *object)
{
    json_int_t run = json_integer_value(json_object_get(object, "run"));
    return run > 0 && run <= 1000000000 ? (long)run : 0;
}

/* What uses a GPU, and how much of that is others'. */
static void read_processes(const json_t *object, struct state_device *device)
{
    json_t *list = json_object_get(object, "processes"), *process;
    size_t index;
    if (!json_is_array(list))
        return;
    device->processes = json_incref(list);
    const double count = fmax(read_number(object, "process_count"), (double)json_array_size(list));
    device->process_count = device->others = (int)fmin(count, 1e6);
    json_array_foreach(list, index, process)
    {
        if (json_is_true(json_object_get(process, "own")))
            device->others--;
        else
            device->others_memory += fmax(read_amount(process, "memory"), 0);
    }
}

bool read_device(const json_t *object, struct state_device *device)
{
    const char *name = json_string_value(json_object_get(object, "device"));
    struct device_list list;
    struct error ignored = ERROR_INIT;
    if (!name || !device_list_parse(name, &list, &ignored) || list.choice != DEVICES_LISTED ||
        list.count != 1)
        return false;
    *device = (struct state_device){.id = list.id[0]};
    read_text(object, "name", device->name, sizeof device->name);
    read_text(object, "reason", device->reason, sizeof device->reason);
    read_text(object, "state", device->state, sizeof device->state);
    /* Only a clear "no" takes a device away. */
    device->available = !json_is_false(json_object_get(object, "available"));
    device->cores = (int)fmin(fmax(read_number(object, "cores"), 0), 1e6);
    device->load = read_number(object, "load");
    device->tensor_load = read_number(object, "tensor_load");
    device->memory_load = read_number(object, "memory_load");
    device->memory_used = read_amount(object, "memory_used");
    device->memory_total = read_amount(object, "memory_total");
    device->rows = read_amount(object, "rows");
    device->samples_per_s = read_amount(object, "samples_per_s");
    device->in_run = isfinite(device->rows);
    device->compute_s = read_amount(object, "compute_s");
    device->sync_s = read_amount(object, "sync_s");
    device->wait_s = read_amount(object, "wait_s");
    device->temperature_c = read_number(object, "temperature_c");
    device->power_w = read_amount(object, "power_w");
    device->power_limit_w = read_amount(object, "power_limit_w");
    device->clock_mhz = read_amount(object, "clock_mhz");
    device->clock_max_mhz = read_amount(object, "clock_max_mhz");
    device->pcie_rx = read_amount(object, "pcie_rx");
    device->pcie_tx = read_amount(object, "pcie_tx");
    device->throttle_known = json_is_string(json_object_get(object, "throttle"));
    read_text(object, "throttle", device->throttle, sizeof device->throttle);
    read_processes(object, device);
    device->missing = json_is_object(json_object_get(object, "missing"))
                          ? json_incref(json_object_get(object, "missing"))
                          : NULL;
    return true;
}

void device_forget(struct state_device *device)
{
    device->load = device->memory_used = NAN;
    device->tensor_load = device->memory_load = NAN;
    device->rows = device->samples_per_s = NAN;
    device->compute_s = device->sync_s = device->wait_s = NAN;
    device->temperature_c = device->power_w = device->clock_mhz = NAN;
    device->pcie_rx = device->pcie_tx = NAN;
    json_decref(device->processes);
    device->processes = NULL;
    device->others = device->process_count = 0;
    device->throttle_known = device->in_run = false;
    device->throttle[0] = device->state[0] = '\0';
}

/* ["cpu:0","cpu:1"] as "cpu:0-1". */
static void read_devices(const json_t *array, struct state_run *run)
{
    struct device_list list = {.choice = DEVICES_LISTED};
    struct error ignored = ERROR_INIT;
    for (size_t i = 0; i < json_array_size(array) && list.count < SPEC_MAX_DEVICES; i++) {
        const char *name = json_string_value(json_array_get(array, i));
        struct device_list one;
        if (name && device_list_parse(name, &one, &ignored) && one.count == 1 &&
            one.choice == DEVICES_LISTED)
            list.id[list.count++] = one.id[0];
    }
    char *text = list.count > 0 ? device_list_text(&list) : NULL;
    snprintf(run->devices, sizeof run->devices, "%s", text ? text : "-");
    free(text);
    run->device_count = list.count;
}

static void read_tags(const json_t *array, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < json_array_size(array); i++) {
        const char *tag = json_string_value(json_array_get(array, i));
        size_t length = tag ? strlen(tag) : 0;
        if (length > 0 && used + 1 + length < size)
            used += (size_t)sprintf(buffer + used, "%s%s", used > 0 ? " " : "", tag);
    }
}

bool read_run(const json_t *object, struct state_run *run)
{
    *run = (struct state_run){.run = read_run_number(object)};
    if (run->run == 0)
        return false;
    run->status = run_status_find(json_string_value(json_object_get(object, "status")));
    read_text(object, "model", run->model, sizeof run->model);
    read_text(object, "data", run->data, sizeof run->data);
    read_text(object, "split", run->split, sizeof run->split);
    read_text(object, "sync", run->sync, sizeof run->sync);
    read_text(object, "strategy", run->strategy, sizeof run->strategy);
    run->replicas = (int)fmax(1, read_number(object, "replicas"));
    read_text(object, "error", run->error, sizeof run->error);
    read_text(object, "note", run->note, sizeof run->note);
    read_tags(json_object_get(object, "tags"), run->tags, sizeof run->tags);
    run->submitted_at = read_amount(object, "submitted_at");
    run->started_at = read_amount(object, "started_at");
    run->ended_at = read_amount(object, "ended_at");
    run->stop_after_epoch = json_is_true(json_object_get(object, "stop_after_epoch"));
    read_devices(json_object_get(object, "devices"), run);
    run->warnings = (int)json_array_size(json_object_get(object, "warnings"));
    run->batch = read_amount(object, "batch");
    run->lr = read_amount(object, "lr");
    run->epochs = read_amount(object, "epochs");
    run->epochs_done = read_amount(object, "epochs_done");
    run->test_acc = read_amount(object, "test_acc");
    run->best_acc = read_amount(object, "best_val_acc");
    if (isnan(run->best_acc))
        run->best_acc = read_amount(object, "best_test_acc");
    run->val_acc = read_amount(object, "val_acc");
    read_text(object, "reason", run->reason, sizeof run->reason);
    run->s_per_epoch = read_amount(object, "s_per_epoch");
    run->samples_per_s = read_amount(object, "samples_per_s");
    run->energy_j = read_amount(object, "energy_j");
    run->samples_per_j = read_amount(object, "samples_per_j");
    run->speed_up = NAN;
    run->train_rows = read_amount(object, "train_rows");
    run->test_rows = read_amount(object, "test_rows");
    read_setting(object, &run->setting);
    return true;
}

#define MEMBER(id, member) member,

bool read_epoch(const json_t *object, struct epoch_point *point)
{
    static const char *const keys[METRIC_COUNT] = {METRICS(MEMBER)};
    point->epoch = read_amount(object, "epoch");
    point->step = read_amount(object, "step");
    for (int i = 0; i < METRIC_COUNT; i++)
        point->value[i] = read_number(object, keys[i]);
    /* What an epoch is compared by: a run with validation rows has not tested it. */
    if (json_is_number(json_object_get(object, "val_acc"))) {
        point->value[METRIC_TEST_ACC] = read_number(object, "val_acc");
        point->value[METRIC_TEST_LOSS] = read_number(object, "val_loss");
    }
    return point->epoch > 0 && point->epoch <= 1e9;
}

bool read_retune(const json_t *object, struct retune *retune)
{
    retune->epoch = read_amount(object, "epoch");
    retune->step = read_amount(object, "step");
    retune->from = read_amount(object, "from");
    retune->to = read_amount(object, "to");
    retune->scale = read_amount(object, "scale");
    read_text(object, "what", retune->what, sizeof retune->what);
    return isfinite(retune->step) && retune->what[0] != '\0';
}

void read_epoch_speed(const json_t *object, struct state_run *run)
{
    /* An older engine knows the epoch alone. */
    const json_t *so_far = json_object_get(object, "so_far");
    double speed = read_amount(so_far ? so_far : object, "samples_per_s");
    double seconds = so_far ? read_amount(so_far, "s_per_epoch") : read_amount(object, "seconds");
    if (isfinite(speed))
        run->samples_per_s = speed;
    if (isfinite(seconds))
        run->s_per_epoch = seconds;
}

void read_engine(const json_t *object, struct state *state)
{
    double pid = read_amount(object, "pid");
    state->pid = pid < 1e9 ? (long)pid : 0;
    read_text(object, "host", state->host, sizeof state->host);
    read_text(object, "version", state->version, sizeof state->version);
    read_text(object, "no_gpus", state->no_gpus, sizeof state->no_gpus);
    state->store_trouble = json_is_string(json_object_get(object, "store"));
    state->edits = read_amount(object, "edits");
    state->older = (long)fmin(fmax(read_amount(object, "older"), 0), 1e9);
    state->queued = 0;
    const json_t *queue = json_object_get(object, "queue");
    for (size_t i = 0; i < json_array_size(queue) && state->queued < STATE_MAX_QUEUE; i++) {
        json_int_t run = json_integer_value(json_array_get(queue, i));
        if (run > 0 && run <= 1000000000)
            state->queue[state->queued++] = (long)run;
    }
}

static void read_schedule(const json_t *object, struct state_live *live)
{
    const char *text = json_string_value(json_object_get(object, "lr_schedule"));
    struct lr_schedule schedule = {.warmup = read_amount(object, "warmup")};
    struct error ignored = ERROR_INIT;
    live->scheduled = text;
    if (text && schedule.warmup <= SPEC_MAX_EPOCHS && lr_schedule_parse(&schedule, text, &ignored))
        live->schedule = schedule;
}

void read_live(const json_t *object, struct state_live *live)
{
    *live = (struct state_live){.run = read_run_number(object)};
    if (live->run == 0)
        return;
    live->status = run_status_find(json_string_value(json_object_get(object, "status")));
    read_text(object, "phase", live->phase, sizeof live->phase);
    read_text(object, "model", live->model, sizeof live->model);
    read_text(object, "data", live->data, sizeof live->data);
    live->epoch = read_amount(object, "epoch");
    live->epochs = read_amount(object, "epochs");
    live->step = read_amount(object, "step");
    live->total_steps = read_amount(object, "total_steps");
    live->epoch_step = read_amount(object, "epoch_step");
    live->steps_per_epoch = read_amount(object, "steps_per_epoch");
    live->read = read_amount(object, "read");
    live->to_read = read_amount(object, "to_read");
    live->lr = read_amount(object, "lr");
    read_schedule(object, live);
    live->samples_per_s = read_amount(object, "samples_per_s");
    live->elapsed_s = read_amount(object, "elapsed_s");
    live->eta_s = read_amount(object, "eta_s");
    live->stop_after_epoch = json_is_true(json_object_get(object, "stop_after_epoch"));
    live->stopping = json_is_true(json_object_get(object, "stopping"));
}
