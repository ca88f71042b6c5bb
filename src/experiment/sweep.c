/* SPDX-License-Identifier: MIT */
#include "experiment/sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "spec/set.h"

int sweep_counts(int most, int counts[SWEEP_RUNS])
{
    int count = 0;

    if (most < 1 || most > SPEC_MAX_DEVICES)
        return 0;
    for (int devices = 1; devices < most; devices *= 2)
        counts[count++] = devices;
    counts[count++] = most;
    return count;
}

static int cpu_devices(const struct device_list *list)
{
    int count = 0;

    for (int i = 0; i < list->count; i++)
        count += list->id[i].kind == DEVICE_CPU;
    return count;
}

bool sweep_begin(struct sweep *sweep, const struct spec *spec, const struct device_list *devices,
                 enum compare_kind kind, int cores, struct error *err)
{
    int cpus = cpu_devices(devices);

    *sweep = (struct sweep){.kind = kind};
    sweep->count = sweep_counts(devices->count, sweep->devices);
    if (sweep->count == 0)
        return error_set(err, ERROR_USAGE, "a sweep needs 1 to %d devices", SPEC_MAX_DEVICES);
    if (!spec_copy(&sweep->spec, spec, err))
        return false;
    sweep->spec.devices = *devices;
    if (cpus > 0 && sweep->spec.cpu_threads == 0 && sweep->spec.thread_count == 0)
        sweep->spec.cpu_threads = cores / cpus > 1 ? cores / cpus : 1;
    if (spec_set(&sweep->spec, "save", "", err) && spec_set(&sweep->spec, "log", "", err) &&
        spec_set(&sweep->spec, "tensorboard", "", err))
        return true;
    sweep_free(sweep);
    return false;
}

void sweep_free(struct sweep *sweep)
{
    if (sweep->count > 0)
        spec_free(&sweep->spec);
    *sweep = (struct sweep){0};
}

/* Batch and rate for `devices`, through their text: 0.1 for 3 is 0.3, not 0.30000000000000004. */
static bool grow(struct spec *spec, int devices, struct error *err)
{
    char batch[32], lr[32];

    snprintf(batch, sizeof batch, "%.0f", (double)spec->batch * devices);
    snprintf(lr, sizeof lr, "%.12g", spec->lr * devices);
    return spec_set(spec, "batch", batch, err) && spec_set(spec, "lr", lr, err);
}

bool sweep_spec(const struct sweep *sweep, int which, struct spec *spec, struct error *err)
{
    int devices = sweep->devices[which];

    if (!spec_copy(spec, &sweep->spec, err))
        return false;
    spec->devices.count = devices;
    if (spec->split == SPLIT_WEIGHTED && spec->weight_count > devices)
        spec->weight_count = devices;
    int cpus = cpu_devices(&spec->devices);
    if (spec->thread_count > cpus)
        spec->thread_count = cpus;
    bool ok =
        (sweep->kind == COMPARE_FIXED || grow(spec, devices, err)) && spec_validate(spec, err);
    if (ok && spec->split == SPLIT_EVEN && spec->batch % devices != 0)
        ok = error_set(err, ERROR_USAGE, "split even: a batch of %ld does not divide by %d devices",
                       spec->batch, devices);
    if (!ok)
        spec_free(spec);
    return ok;
}

void sweep_note(const struct sweep *sweep, char *buffer, size_t size)
{
    long batch = sweep->spec.batch;
    int most = sweep->devices[sweep->count - 1];
    char counts[64];
    size_t length = 0;

    for (int i = 0; i < sweep->count && length < sizeof counts; i++)
        length += (size_t)snprintf(counts + length, sizeof counts - length, "%s%d",
                                   i > 0 ? "-" : "", sweep->devices[i]);
    if (sweep->kind == COMPARE_FIXED)
        snprintf(buffer, size, SWEEP_NOTE_PREFIX "fixed batch %ld on %s devices", batch, counts);
    else
        snprintf(buffer, size, SWEEP_NOTE_PREFIX "batch %ld..%ld growing with %s devices", batch,
                 batch * most, counts);
}

double sweep_estimate(const int *measured, const double *seconds, int count, int devices,
                      bool *at_least)
{
    double power = 1;

    if (count == 0)
        return NAN;
    for (int i = 0; i < count; i++)
        if (measured[i] == devices)
            return seconds[i];
    int last = count - 1;
    if (count == 1)
        *at_least = true;
    else
        power = log(seconds[0] / seconds[last]) / log((double)measured[last] / measured[0]);
    return seconds[last] * pow((double)measured[last] / devices, power);
}
