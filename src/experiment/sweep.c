/* SPDX-License-Identifier: MIT */
#include "experiment/sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
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

int sweep_cpus(const struct device_list *devices)
{
    int count = 0;
    for (int i = 0; devices->choice == DEVICES_LISTED && i < devices->count; i++)
        count += devices->id[i].kind == DEVICE_CPU;
    return count;
}

int sweep_host_cpus(const struct device_list *devices)
{
    int most = 0, count = 0;
    for (int i = 0; devices->choice == DEVICES_LISTED && i < devices->count; i++) {
        if (i > 0 && strcmp(devices->id[i].host, devices->id[i - 1].host) != 0)
            count = 0;
        count += devices->id[i].kind == DEVICE_CPU;
        most = count > most ? count : most;
    }
    return most;
}

int sweep_hosts(const struct device_list *devices)
{
    int hosts = 0;
    for (int i = 0; i < devices->count; i++)
        hosts += *devices->id[i].host &&
                 (i == 0 || strcmp(devices->id[i].host, devices->id[i - 1].host) != 0);
    return hosts;
}

bool sweep_prepare(struct spec *spec, int cpus, int cores, struct error *err)
{
    if (cpus > 0 && spec->cpu_threads == 0 && spec->thread_count == 0)
        spec->cpu_threads = cores / cpus > 1 ? cores / cpus : 1;
    return spec_set(spec, "save", "", err) && spec_set(spec, "save-best", "", err) &&
           spec_set(spec, "log", "", err) && spec_set(spec, "tensorboard", "", err);
}

/* Batch and rate for `devices`, through their text: 0.1 for 3 is 0.3, not 0.30000000000000004. */
static bool grow(struct spec *spec, int devices, struct error *err)
{
    char batch[32], lr[32];
    snprintf(batch, sizeof batch, "%.0f", (double)spec->batch * devices);
    snprintf(lr, sizeof lr, "%.12g", spec->lr * devices);
    return spec_set(spec, "batch", batch, err) && spec_set(spec, "lr", lr, err);
}

/* A name for each stage but the last. */
static bool check_stages(const struct spec *spec, struct error *err)
{
    const int stages = spec_stages(spec);
    int names = 1;
    if (spec->strategy != STRATEGY_PIPELINE || !spec->stages)
        return true;
    for (const char *at = spec->stages; (at = strchr(at, ',')); at++)
        names++;
    return names == stages - 1 ||
           error_set(err, ERROR_USAGE, "stages: %d name%s for %d stage%s: give %d, or leave it out",
                     names, plural(names), stages, plural(stages), stages - 1);
}

bool sweep_run(const struct spec *prepared, const struct device_list *devices, enum scaling scaling,
               struct spec *spec, struct error *err)
{
    int count = devices->count, cpus = sweep_cpus(devices);
    if (!spec_copy(spec, prepared, err))
        return false;
    spec->devices = *devices;
    if (spec->split == SPLIT_WEIGHTED && spec->weight_count > count)
        spec->weight_count = count;
    if (spec->thread_count > cpus)
        spec->thread_count = cpus;
    /* One device alone has one pipeline of one stage, as the base of all. */
    spec->replicas = count > 1 ? spec->replicas : 1;
    bool ok = (count > 1 || !spec->stages || spec_set(spec, "stages", "", err)) &&
              (scaling == SCALING_STRONG || grow(spec, count, err)) && spec_validate(spec, err);
    if (ok && spec->strategy == STRATEGY_PIPELINE && count % spec->replicas != 0)
        ok = error_set(err, ERROR_USAGE,
                       "replicas %ld: %d device%s cannot be divided equally over as many pipelines",
                       spec->replicas, count, plural(count));
    ok = ok && check_stages(spec, err);
    bool shards = strategy_divides_rows(spec->strategy);
    if (ok && shards && spec->split == SPLIT_EVEN && spec->batch % count != 0)
        ok = error_set(err, ERROR_USAGE, "split even: a batch of %ld does not divide by %d devices",
                       spec->batch, count);
    if (!ok)
        spec_free(spec);
    return ok;
}

bool sweep_begin(struct sweep *sweep, const struct spec *spec, const struct device_list *devices,
                 enum scaling scaling, int cores, struct error *err)
{
    *sweep = (struct sweep){.scaling = scaling};
    sweep->count = sweep_counts(devices->count, sweep->devices);
    if (sweep->count == 0)
        return error_set(err, ERROR_USAGE, "a sweep needs 1 to %d devices", SPEC_MAX_DEVICES);
    if (!spec_copy(&sweep->spec, spec, err))
        return false;
    sweep->spec.devices = *devices;
    if (sweep_prepare(&sweep->spec, sweep_host_cpus(devices), cores, err))
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

bool sweep_spec(const struct sweep *sweep, int which, struct spec *spec, struct error *err)
{
    struct device_list first = sweep->spec.devices;
    first.count = sweep->devices[which];
    return sweep_run(&sweep->spec, &first, sweep->scaling, spec, err);
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
    if (sweep->scaling == SCALING_STRONG)
        snprintf(buffer, size, SWEEP_NOTE_PREFIX "strong scaling, batch %ld on %s devices", batch,
                 counts);
    else
        snprintf(buffer, size, SWEEP_NOTE_PREFIX "weak scaling, batch %ld to %ld on %s devices",
                 batch, batch * most, counts);
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
