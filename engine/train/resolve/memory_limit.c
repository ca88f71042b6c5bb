/* SPDX-License-Identifier: MIT */
#include "engine/train/resolve/memory_limit.h"

#include <stdio.h>
#include <string.h>

#include "base/figure.h"
#include "engine/train/memory/plan.h"
#include "engine/train/pipeline/layout.h"
#include "engine/train/resolve/parallel.h"
#include "spec/names.h"
#include "spec/set.h"

/* A run as it could be. */
struct candidate {
    const struct net *net;
    long rows, test_rows;
};

/* What all ranks need of the device that rank `rank` is on. */
static uint64_t of_device(const struct spec *spec, int rank, const uint64_t *bytes)
{
    const struct device_id *ids = spec->devices.id;
    uint64_t sum = 0;
    for (int i = 0; i < spec->devices.count; i++)
        if (device_id_same(ids[i], ids[rank]))
            sum += bytes[i];
    return sum;
}

/* The device that needs most. */
static bool find_most(const struct spec *spec, const struct candidate *of, int *device,
                      size_t *bytes, struct error *err)
{
    struct memory_share shares[SPEC_MAX_DEVICES];
    struct pipeline_layout layout;
    if ((spec->strategy == STRATEGY_PIPELINE && !pipeline_lay_out(spec, of->net, &layout, err)) ||
        !memory_plan(spec, of->net, &layout, of->rows, of->test_rows, shares, err))
        return false;
    *bytes = 0;
    for (int i = 0; i < spec->devices.count; i++) {
        uint64_t totals[SPEC_MAX_DEVICES];
        for (int k = 0; k < spec->devices.count; k++)
            totals[k] = shares[k].total;
        const size_t total = (size_t)of_device(spec, i, totals);
        if (total > *bytes) {
            *bytes = total;
            *device = i;
        }
    }
    return true;
}

/* CPU devices with the next numbers. */
static bool add_devices(struct spec *spec, int count)
{
    struct device_list *list = &spec->devices;
    int next = 0;
    for (int i = 0; i < list->count; i++)
        next = list->id[i].index >= next ? list->id[i].index + 1 : next;
    if (count > SPEC_MAX_DEVICES)
        return false;
    if (count == list->count)
        return true;
    while (list->count < count)
        list->id[list->count++] = (struct device_id){.kind = DEVICE_CPU, .index = next++};
    spec->thread_count = 0;
    spec->cpu_threads = 1;
    return true;
}

/* What the run would need with another strategy, on `count` devices; 0: it cannot be had. */
static size_t most_with(const struct spec *spec, const struct candidate *of, enum strategy strategy,
                        int count)
{
    struct error ignored = ERROR_INIT;
    struct spec other;
    size_t bytes = 0;
    int device;
    if (!spec_copy(&other, spec, &ignored))
        return 0;
    bool ok = spec_set(&other, "strategy", strategy_name(strategy), &ignored) &&
              spec_set(&other, "micro-batches", "0", &ignored) &&
              spec_set(&other, "replicas", "1", &ignored) &&
              spec_set(&other, "stages", "", &ignored) && add_devices(&other, count) &&
              spec_validate(&other, &ignored) &&
              resolve_parallel(&other, of->net, of->rows > 0 ? of->rows : spec->batch, &ignored) &&
              find_most(&other, of, &device, &bytes, &ignored);
    spec_free(&other);
    return ok ? bytes : 0;
}

/* The strategies that fit on `count` devices: "pipeline (126 MiB) or tensor (190 MiB)". */
static bool name_fitting(const struct spec *spec, const struct candidate *of, int count, char *text,
                         size_t size)
{
    char names[STRATEGIES][48];
    int found = 0;
    for (int i = 0; i < STRATEGIES; i++) {
        struct figure figure;
        if ((enum strategy)i == spec->strategy && count == spec->devices.count)
            continue;
        const size_t bytes = most_with(spec, of, (enum strategy)i, count);
        if (bytes > 0 && bytes <= (size_t)spec->memory_limit)
            snprintf(names[found++], sizeof names[0], "%s (%s)", strategy_name((enum strategy)i),
                     figure_bytes(&figure, (double)bytes));
    }
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < found && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 i == 0           ? ""
                                 : i == found - 1 ? " or "
                                                  : ", ",
                                 names[i]);
    return found > 0;
}

/* 0: not known. */
static size_t most_with_one_row(const struct spec *spec, const struct candidate *of)
{
    struct error ignored = ERROR_INIT;
    struct spec other;
    size_t bytes = 0;
    int device;
    if (!spec_copy(&other, spec, &ignored))
        return 0;
    other.batch = other.devices.count;
    other.micro_batches = other.micro_batches > 0;
    bool ok = find_most(&other, of, &device, &bytes, &ignored);
    spec_free(&other);
    return ok ? bytes : 0;
}

/* What would fit: with the devices that there are, or else with at most four times as many. */
static void suggest(const struct spec *spec, const struct candidate *of, size_t needed, char *text,
                    size_t size)
{
    struct figure figure;
    char names[160];
    const int devices = spec->devices.count;
    for (int count = devices; count <= 4 * devices && count <= SPEC_MAX_DEVICES; count++) {
        if (!name_fitting(spec, of, count, names, sizeof names))
            continue;
        if (count == devices)
            snprintf(text, size, "with --strategy %s it would fit", names);
        else
            snprintf(text, size, "on %d devices --strategy %s would fit", count, names);
        return;
    }
    const size_t least = most_with_one_row(spec, of);
    if (least > 0 && least <= (size_t)spec->memory_limit)
        snprintf(text, size, "a smaller batch would fit");
    else if (least > needed)
        snprintf(text, size, "a smaller batch would not need less, so raise the limit");
    else
        snprintf(text, size, "with a batch of one row it would still be %s, so raise the limit",
                 figure_bytes(&figure, (double)least));
}

static bool only_cpus(const struct spec *spec)
{
    for (int i = 0; i < spec->devices.count; i++)
        if (spec->devices.id[i].kind != DEVICE_CPU)
            return false;
    return true;
}

bool memory_limit_words(const struct spec *spec, const struct net *net, long rows, long test_rows,
                        char *text, size_t size, struct error *err)
{
    const struct candidate of = {net, rows, test_rows};
    struct figure limit, needs;
    char name[DEVICE_NAME], words[240];
    size_t bytes;
    int device;
    text[0] = '\0';
    if (spec->memory_limit == 0 || !only_cpus(spec))
        return true;
    if (!find_most(spec, &of, &device, &bytes, err))
        return false;
    if (bytes <= (size_t)spec->memory_limit)
        return true;
    suggest(spec, &of, bytes, words, sizeof words);
    snprintf(text, size, "memory-limit %s: %s would need %s: %s",
             figure_bytes(&limit, (double)spec->memory_limit),
             device_id_text(spec->devices.id[device], name), figure_bytes(&needs, (double)bytes),
             words);
    return true;
}

bool memory_limit_check(const struct spec *spec, const struct net *net, long rows, long test_rows,
                        struct error *err)
{
    char text[400];
    return memory_limit_words(spec, net, rows, test_rows, text, sizeof text, err) &&
           (text[0] == '\0' || error_set(err, ERROR_USAGE, "%s", text));
}

bool memory_limit_hold(const struct spec *spec, const uint64_t *bytes, struct error *err)
{
    for (int i = 0; spec->memory_limit > 0 && i < spec->devices.count; i++) {
        const uint64_t needed = of_device(spec, i, bytes);
        struct figure limit, needs;
        char name[DEVICE_NAME];
        if (needed > (uint64_t)spec->memory_limit)
            return error_set(err, ERROR_USAGE,
                             "memory-limit %s: %s needs %s: raise the limit, or "
                             "give it less",
                             figure_bytes(&limit, (double)spec->memory_limit),
                             device_id_text(spec->devices.id[i], name),
                             figure_bytes(&needs, (double)needed));
    }
    return true;
}
