/* SPDX-License-Identifier: MIT */
#include "experiment/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"

/* False: they are not known, or make no sense. */
static bool add_times(struct measured_epoch *epoch, const json_t *times)
{
    double sync = member_number(times, "sync_s"), wait = member_number(times, "wait_s");
    if (!(sync >= 0 && wait >= 0 && sync + wait <= 1.001 * epoch->seconds))
        return false;
    epoch->device_s += epoch->seconds;
    epoch->sync_s += sync;
    epoch->wait_s += wait;
    return true;
}

static void read_devices(struct measured_epoch *epoch, const json_t *event)
{
    double steps = member_number(event, "steps"), rate_sum = 0, rows_sum = 0;
    int rates = 0;
    bool timed = false;
    size_t index;
    json_t *device;
    json_array_foreach(json_object_get(event, "devices"), index, device)
    {
        double rate = member_number(device, "samples_per_s"), rows = member_number(device, "rows");
        timed |= add_times(epoch, device);
        if (isfinite(rate) && isfinite(rows) && steps > 0) {
            rate_sum += rate;
            rows_sum += rows / steps;
            rates++;
        }
    }
    /* Without those of the devices the epoch's own, which are those of the slowest one. */
    if (!timed)
        add_times(epoch, event);
    epoch->device_rate = rates > 0 ? rate_sum / rates : NAN;
    epoch->rows = rates > 0 ? rows_sum / rates : NAN;
}

/* One that was measured and cannot be told is so large that no signal is left beside the noise. */
static double read_noise(const json_t *event)
{
    const json_t *noise = json_object_get(event, "noise_scale");
    return json_is_null(noise) ? INFINITY : member_number(event, "noise_scale");
}

bool measure_add(struct measure *measure, const json_t *event, struct error *err)
{
    struct measured_epoch epoch = {.epoch = member_number(event, "epoch"),
                                   .seconds = member_number(event, "seconds"),
                                   .samples_per_s = member_number(event, "samples_per_s"),
                                   .test_acc = member_score(event),
                                   .eval_s = member_number(event, "eval_s"),
                                   .noise = read_noise(event),
                                   .energy_j = member_number(event, "energy_j"),
                                   .samples_per_j = member_number(event, "samples_per_j"),
                                   .partial = json_is_true(json_object_get(event, "partial"))};
    int at = measure->count;
    const json_t *network = json_object_get(event, "network");
    epoch.network_s = member_positive(network, "seconds");
    epoch.network_bytes = member_positive(network, "bytes");
    epoch.network_steps = network ? member_positive(event, "steps") : 0;
    read_devices(&epoch, event);
    if (!(epoch.epoch > 0))
        return true;
    while (at > 0 && measure->epochs[at - 1].epoch >= epoch.epoch)
        at--;
    bool there = at < measure->count && measure->epochs[at].epoch == epoch.epoch;
    if (!there) {
        struct measured_epoch *epochs =
            array_grow(measure->epochs, measure->count, &measure->capacity, sizeof epoch);
        if (!epochs)
            return error_memory(err, "epochs");
        measure->epochs = epochs;
        memmove(epochs + at + 1, epochs + at, (size_t)(measure->count++ - at) * sizeof epoch);
    }
    measure->epochs[at] = epoch;
    measure->validated |= json_is_number(json_object_get(event, "val_acc"));
    return true;
}

bool measure_read(struct measure *measure, const json_t *epochs, struct error *err)
{
    size_t index;
    json_t *event;
    json_array_foreach(epochs, index, event)
    {
        if (!measure_add(measure, event, err))
            return false;
    }
    return true;
}

static void read_type(struct measure *measure, const json_t *types)
{
    size_t index;
    json_t *entry;
    measure->type[0] = 0;
    json_array_foreach(types, index, entry)
    {
        const char *type = json_string_value(entry);
        if (index == 0 && type)
            snprintf(measure->type, sizeof measure->type, "%s", type);
        else if (!type || strcmp(type, measure->type) != 0)
            measure->type[0] = 0;
    }
}

void measure_read_devices(struct measure *measure, const json_t *run)
{
    const json_t *memory = json_object_get(run, "memory");
    double bytes = member_number(run, "sync_bytes_per_step");
    measure->memory = measure->step_bytes = 0;
    for (size_t i = 0; i < json_array_size(memory); i++)
        measure->memory = fmax(measure->memory, json_number_value(json_array_get(memory, i)));
    if (measure->memory > 0 && bytes >= 0)
        measure->step_bytes = bytes;
    measure->gradient_bytes = sizeof(float) * member_positive(run, "params");
    read_type(measure, json_object_get(run, "types"));
    measure->measured_from = member_positive(run, "measured_from");
}

void measure_free(struct measure *measure)
{
    free(measure->epochs);
    *measure = (struct measure){0};
}

/* The first epoch on the run's devices. */
static int find_start(const struct measure *measure)
{
    int i = 0;
    while (i < measure->count && measure->epochs[i].epoch < measure->measured_from)
        i++;
    return i;
}

/* Up to two: how many epochs from `start` on are whole; *first is the first of them, or `start`. */
static int count_whole(const struct measure *measure, int start, int *first)
{
    int whole = 0;
    *first = start;
    for (int i = start; i < measure->count && whole < 2; i++) {
        if (measure->epochs[i].partial)
            continue;
        if (whole++ == 0)
            *first = i;
    }
    return whole;
}

bool measure_counts(const struct measure *measure, int index)
{
    const int start = find_start(measure);
    int first, whole = count_whole(measure, start, &first);
    return whole < 2 ? index == first : index > start && !measure->epochs[index].partial;
}

bool measure_is_warm_up(const struct measure *measure)
{
    int first, start = find_start(measure);
    return measure->count > start && count_whole(measure, start, &first) < 2;
}

/* How many epochs stand behind one: of a long run `show` tells every so many. */
static double epochs_behind(const struct measure *measure, int index)
{
    const struct measured_epoch *epoch = &measure->epochs[index];
    const double before = index > 0 ? epoch[-1].epoch : epoch->epoch - 1;
    return fmax(1, epoch->epoch - fmax(before, measure->measured_from - 1));
}

double measure_seconds(const struct measure *measure)
{
    double seconds = 0;
    for (int i = 0; i < measure->count; i++)
        seconds += epochs_behind(measure, i) * measure->epochs[i].seconds;
    return seconds;
}

struct measured_time measure_time(const struct measure *measure)
{
    struct measured_time time = {.seconds = 0};
    double device_s = 0;
    for (int i = 0; i < measure->count; i++) {
        const struct measured_epoch *epoch = &measure->epochs[i];
        if (!measure_counts(measure, i) || !(epoch->device_s > 0))
            continue;
        const double epochs = epochs_behind(measure, i);
        time.seconds += epochs * epoch->seconds;
        time.sync_s += epochs * epoch->sync_s;
        time.wait_s += epochs * epoch->wait_s;
        time.eval_s += epoch->eval_s > 0 ? epochs * epoch->eval_s : 0;
        time.network_s += epochs * epoch->network_s;
        time.network_bytes += epochs * epoch->network_bytes;
        time.network_steps += epochs * epoch->network_steps;
        device_s += epochs * epoch->device_s;
    }
    if (device_s > 0) {
        time.sync_s *= time.seconds / device_s;
        time.wait_s *= time.seconds / device_s;
    }
    return time;
}

double measure_noise(const struct measure *measure)
{
    double sum = 0;
    int count = 0;
    for (int i = 0; i < measure->count; i++)
        if (measure->epochs[i].noise > 0) {
            sum += 1 / measure->epochs[i].noise;
            count++;
        }
    return sum > 0 ? count / sum : NAN;
}

struct measured_energy measure_energy(const struct measure *measure)
{
    double joules = 0, rows = 0;
    int count = 0;
    for (int i = 0; i < measure->count; i++) {
        const struct measured_epoch *epoch = &measure->epochs[i];
        if (!measure_counts(measure, i) || !(epoch->energy_j > 0))
            continue;
        joules += epoch->energy_j;
        rows += epoch->energy_j * epoch->samples_per_j;
        count++;
    }
    if (count == 0)
        return (struct measured_energy){NAN, NAN};
    return (struct measured_energy){joules / count, rows / joules};
}

double measure_energy_to(const struct measure *measure, double test_acc)
{
    double joules = 0;
    if (measure->measured_from > 0)
        return NAN;
    for (int i = 0; i < measure->count; i++) {
        joules += epochs_behind(measure, i) * measure->epochs[i].energy_j;
        if (measure->epochs[i].test_acc >= test_acc)
            return joules > 0 ? joules : NAN;
    }
    return NAN;
}

double measure_test_acc(const struct measure *measure)
{
    return measure->count > 0 ? measure->epochs[measure->count - 1].test_acc : NAN;
}

double measure_seconds_to(const struct measure *measure, double test_acc)
{
    double seconds = 0;
    if (measure->measured_from > 0)
        return NAN;
    for (int i = 0; i < measure->count; i++) {
        seconds += epochs_behind(measure, i) * measure->epochs[i].seconds;
        if (measure->epochs[i].test_acc >= test_acc)
            return seconds;
    }
    return NAN;
}
