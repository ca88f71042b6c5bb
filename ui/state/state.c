/* SPDX-License-Identifier: MIT */
#include "ui/state/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spec/names.h"
#include "ui/state/curve.h"
#include "ui/state/log.h"
#include "ui/state/read.h"
#include "ui/state/setting.h"

void state_init(struct state *state)
{
    *state = (struct state){0};
}

static void free_runs(struct state_run *runs, int count)
{
    for (int i = 0; i < count; i++)
        curve_free(&runs[i]);
    free(runs);
}

static void free_devices(struct state_device *devices, int count)
{
    for (int i = 0; i < count; i++) {
        json_decref(devices[i].missing);
        json_decref(devices[i].processes);
    }
    free(devices);
}

void state_free(struct state *state)
{
    free_runs(state->runs, state->run_count);
    free_devices(state->devices, state->device_count);
    log_free(state);
    state_init(state);
}

void state_disconnected(struct state *state)
{
    state->known = false;
    state->live = (struct state_live){0};
    state->queued = 0;
    for (int i = 0; i < state->device_count; i++) {
        struct state_device *device = &state->devices[i];
        device_forget(device);
    }
    /* Whatever happens meanwhile has to be asked for again. */
    for (int i = 0; i < state->run_count; i++) {
        struct state_run *run = &state->runs[i];
        run->curve_known = false;
        if (run_status_is_live(run->status))
            run->status = RUN_LOST;
    }
    state->runs_version++;
}

/* NULL: it was not there before. */
static const struct state_device *find_device(const struct state *state, struct device_id id)
{
    for (int i = 0; i < state->device_count; i++)
        if (device_id_same(state->devices[i].id, id))
            return &state->devices[i];
    return NULL;
}

struct state_run *state_run(const struct state *state, long run)
{
    int low = 0, high = state->run_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (state->runs[middle].run < run)
            low = middle + 1;
        else
            high = middle;
    }
    return low < state->run_count && state->runs[low].run == run ? &state->runs[low] : NULL;
}

int state_queue_place(const struct state *state, long run)
{
    for (int i = 0; i < state->queued; i++)
        if (state->queue[i] == run)
            return i;
    return -1;
}

bool state_divides_rows(const struct state *state)
{
    const struct state_run *run = state_run(state, state->live.run);
    enum strategy strategy;
    return !run || !strategy_find(run->strategy, &strategy) || strategy_divides_rows(strategy);
}

double points_newest(const struct epoch_point *points, int count, enum metric metric)
{
    while (count > 0 && !isfinite(points[count - 1].value[metric]))
        count--;
    return count > 0 ? points[count - 1].value[metric] : NAN;
}

double state_rows_together(const struct state *state, double sum, int devices)
{
    const struct state_run *run = state_run(state, state->live.run);
    return state_divides_rows(state) || devices == 0 ? sum : sum * run->replicas / devices;
}

/*
 * Load, memory and speed vary by a per cent or two all the time. A number on the screen moves
 * when it changed by more than that, so that an idle screen sends nothing over a slow line and a
 * busy one little.
 */
static double settled(double shown, double fresh, double step)
{
    return isfinite(shown) && isfinite(fresh) && fabs(fresh - shown) < step ? shown : fresh;
}

/* A device that was not there before: its loads begin where those of the others are. */
static void begin_history(const struct state *state, struct state_device *device)
{
    for (int i = 0; i < STATE_HISTORY; i++)
        device->history[i] = NAN;
    device->history_count = state->device_count > 0 ? state->devices[0].history_count : 0;
}

/* Carry over what was known of the device. */
static void compare_device(const struct state *state, struct state_device *device)
{
    const struct state_device *before = find_device(state, device->id);
    bool gone = !device->available && before && (before->available || before->lost);
    device->lost = gone || strcmp(device->state, "failed") == 0;
    if (!before) {
        begin_history(state, device);
        return;
    }
    device->lost_told = before->lost_told && device->lost;
    device->load = settled(before->load, device->load, device->in_run ? 0.02 : 0.08);
    device->tensor_load = settled(before->tensor_load, device->tensor_load, 0.02);
    device->memory_load = settled(before->memory_load, device->memory_load, 0.02);
    device->memory_used = settled(before->memory_used, device->memory_used,
                                  device->memory_total * (device->in_run ? 0.005 : 0.02));
    device->samples_per_s =
        settled(before->samples_per_s, device->samples_per_s, device->samples_per_s * 0.02);
    memcpy(device->history, before->history, sizeof device->history);
    device->history_count = before->history_count;
}

/*
 * Another sample of every load; but as long as nothing happens nothing is redrawn, and the
 * curves stand still.
 */
static void keep_loads(const struct state *state, struct state_device *devices, int count)
{
    bool news = state->live.run != 0 && state->live.status != RUN_PAUSED;
    for (int i = 0; i < count && !news; i++) {
        const struct state_device *before = find_device(state, devices[i].id);
        news = !before || (isfinite(devices[i].load) && devices[i].load != before->load);
    }
    for (int i = 0; i < count && news; i++)
        devices[i].history[devices[i].history_count++ % STATE_HISTORY] = (float)devices[i].load;
}

static bool take_devices(struct state *state, const json_t *result, struct error *err)
{
    size_t size = json_array_size(result);
    struct state_device *devices = NULL;
    int count = 0;
    if (size > STATE_MAX_DEVICES)
        size = STATE_MAX_DEVICES;
    if (size > 0 && !(devices = calloc(size, sizeof *devices)))
        return error_memory(err, "the list of devices");
    for (size_t i = 0; i < size; i++) {
        struct state_device *device = &devices[count];
        if (!read_device(json_array_get(result, i), device))
            continue;
        count++;
        compare_device(state, device);
    }
    keep_loads(state, devices, count);
    free_devices(state->devices, state->device_count);
    state->devices = devices;
    state->device_count = count;
    return true;
}

static int compare_numbers(const void *a, const void *b)
{
    const struct state_run *first = a, *second = b;
    return (first->run > second->run) - (first->run < second->run);
}

/* By rising number, each once; the engine sends them so. Returns how many are left. */
static int put_in_order(struct state_run *runs, int count)
{
    int kept = 0;
    for (int i = 1; i < count; i++)
        if (runs[i].run <= runs[i - 1].run) {
            qsort(runs, (size_t)count, sizeof *runs, compare_numbers);
            break;
        }
    for (int i = 0; i < count; i++)
        if (kept == 0 || runs[kept - 1].run != runs[i].run)
            runs[kept++] = runs[i];
    return kept;
}

/* Numbers start over with another engine: then a run was submitted at another time. */
static bool is_same_run(const struct state_run *a, const struct state_run *b)
{
    return !(isfinite(a->submitted_at) && isfinite(b->submitted_at) &&
             a->submitted_at != b->submitted_at);
}

bool state_runs(struct state *state, const json_t *result, struct error *err)
{
    size_t size = json_array_size(result);
    size_t first = size > STATE_MAX_RUNS ? size - STATE_MAX_RUNS : 0;
    struct state_run *runs = NULL;
    int count = 0;
    if (!json_is_array(result))
        return true;
    state->runs_stale = false;
    if (size > 0 && !(runs = calloc(size - first, sizeof *runs)))
        return error_memory(err, "the list of runs");
    for (size_t i = first; i < size; i++)
        if (read_run(json_array_get(result, i), &runs[count]))
            count++;
    count = put_in_order(runs, count);
    for (int i = 0; i < count; i++) {
        struct state_run *before = state_run(state, runs[i].run);
        if (before && is_same_run(before, &runs[i]))
            curve_move(&runs[i], before);
    }
    free_runs(state->runs, state->run_count);
    state->runs = runs;
    state->run_count = count;
    state->runs_version++;
    return true;
}

bool state_show(struct state *state, const json_t *result, struct error *err)
{
    struct state_run fresh;
    struct state_run *run;
    if (!read_run(result, &fresh) || !(run = state_run(state, fresh.run)))
        return true;
    run->curve_known = true;
    if (run->setting.digest == 0)
        read_setting_of_spec(json_object_get(result, "spec"), &run->setting);
    measure_read_devices(&run->measure, result);
    return curve_read(run, result, err);
}

/* An epoch of a run: its point, and its line in the list without asking again. */
static bool take_epoch(struct state_run *run, const json_t *event, struct error *err)
{
    struct epoch_point point;
    if (!read_epoch(event, &point))
        return true;
    double accuracy = point.value[METRIC_TEST_ACC];
    run->epochs_done = fmax(isfinite(run->epochs_done) ? run->epochs_done : 0, point.epoch);
    *(json_is_number(json_object_get(event, "val_acc")) ? &run->val_acc : &run->test_acc) =
        accuracy;
    run->best_acc = fmax(run->best_acc, accuracy);
    read_epoch_speed(event, run);
    if (!curve_add_epoch(run, &point, err) || !curve_add_measure(run, event, err))
        return false;
    const struct measured_energy energy = measure_energy(&run->measure);
    /* Where earlier epochs are not known yet, the engine's list has the mean. */
    if (isfinite(energy.joules) && run->measure.epochs[0].epoch <= 1) {
        run->energy_j = energy.joules;
        run->samples_per_j = energy.samples_per_j;
    }
    return true;
}

static bool take_event(struct state *state, const json_t *params, struct error *err)
{
    const char *event = json_string_value(json_object_get(params, "event"));
    struct state_run *run = state_run(state, read_run_number(params));
    if (!event)
        return true;
    bool fine = strcmp(event, "point") == 0;
    if ((!run && !fine) || strcmp(event, "run") == 0 || strcmp(event, "warning") == 0 ||
        strcmp(event, "end") == 0)
        state->runs_stale = true;
    if (!run)
        return true;
    /* It resumes from a checkpoint: what it did after that no longer counts. */
    if (strcmp(event, "run") == 0 && json_is_integer(json_object_get(params, "resumed_at"))) {
        curve_free(run);
        run->curve_known = false;
        state->runs_version++;
    }
    if (strcmp(event, "epoch") == 0) {
        state->runs_version++;
        return take_epoch(run, params, err);
    }
    if (strcmp(event, "point") == 0)
        return curve_add_fine(run, params, err);
    if (strcmp(event, "retune") == 0) {
        state->runs_stale = true;
        state->retuned = 2; /* one may be on its way */
        return curve_add_retune(run, params, err);
    }
    return true;
}

static bool take_state(struct state *state, const json_t *params, struct error *err)
{
    struct state_live before = state->live;
    int queued = state->queued;
    double edits = state->known ? state->edits : NAN;
    if (!json_is_object(params))
        return true;
    state->known = true;
    read_engine(params, state);
    read_live(json_object_get(params, "run"), &state->live);
    if (before.run != state->live.run || before.stop_after_epoch != state->live.stop_after_epoch ||
        before.status != state->live.status || queued != state->queued || state->retuned > 0 ||
        state->edits > edits)
        state->runs_stale = true;
    state->retuned -= state->retuned > 0;
    return take_devices(state, json_object_get(params, "devices"), err);
}

bool state_notification(struct state *state, const char *method, const json_t *params,
                        struct error *err)
{
    if (strcmp(method, "state") == 0)
        return take_state(state, params, err);
    if (strcmp(method, "event") == 0)
        return take_event(state, params, err);
    if (strcmp(method, "log") == 0)
        return log_add(state, params, err);
    return true;
}

bool run_has_ended(const struct state_run *run)
{
    return run->status >= RUN_DONE && run->status <= RUN_INTERRUPTED;
}
