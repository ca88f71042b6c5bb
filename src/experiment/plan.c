/* SPDX-License-Identifier: MIT */
#include "experiment/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "spec/json.h"
#include "spec/names.h"
#include "spec/set.h"
#include "spec/text.h"
#include "spec/values.h"

static const char nothing_to_divide[] =
    "one device has nothing to divide: choose more, such as cpu:0-1";

/* The next part of a list; *at is NULL after the last. False when it is empty or too long. */
static bool next_part(const char **at, const char *separators, char *part, size_t size)
{
    size_t length = strcspn(*at, separators);
    snprintf(part, size, "%.*s", (int)length, *at);
    *at = (*at)[length] ? *at + length + 1 : NULL;
    return length > 0 && length < size;
}

int study_most(const char *counts)
{
    long most = 0, count;
    char part[16];
    for (const char *at = counts; at;) {
        if (!next_part(&at, ",", part, sizeof part) ||
            !parse_long(part, 1, SPEC_MAX_DEVICES, &count))
            return 0;
        most = count > most ? count : most;
    }
    return (int)most;
}

static bool fill(const struct study_request *request, struct spec *spec, struct error *err)
{
    return !request->fill || request->fill(request->context, spec, err);
}

static int all_threads(const struct spec *spec, int cpus)
{
    int sum = 0;
    for (int i = 0; i < cpus && i < spec->thread_count; i++)
        sum += spec->threads[i];
    return spec->thread_count > 0 ? sum : cpus * spec->cpu_threads;
}

/* Takes over the settings of `spec`; two variants of the same label would be the same run twice. */
static bool add_variant(struct study *study, const char *label, const struct spec *spec,
                        bool only_given, struct error *err)
{
    if (study->variant_count == STUDY_VARIANTS)
        return error_set(err, ERROR_USAGE, "a comparison has at most %d variants", STUDY_VARIANTS);
    for (int i = 0; i < study->variant_count; i++)
        if (strcmp(study->variants[i].label, label) == 0)
            return error_set(err, ERROR_USAGE, "'%s' is there twice", label);
    struct study_variant *variant = &study->variants[study->variant_count];
    int cpus = sweep_cpus(&spec->devices);
    *variant = (struct study_variant){
        .devices = spec->devices.choice == DEVICES_LISTED ? spec->devices.count : 0,
        .cpus = cpus,
        .threads = all_threads(spec, cpus),
        .strategy = spec->strategy,
        .batch = spec->batch,
        .lr = spec->lr,
        .spec = only_given ? spec_given_to_json(spec) : spec_to_json(spec)};
    if (!variant->spec)
        return spec_json_failed(spec, err);
    snprintf(variant->label, sizeof variant->label, "%s", label);
    study->variant_count++;
    return true;
}

static bool add_devices(struct study *study, const char *label, const struct spec *spec,
                        const struct device_list *devices, struct error *err)
{
    struct spec variant;
    if (!sweep_run(spec, devices, study->scaling, &variant, err))
        return error_prefix(err, "%s", label);
    bool ok = add_variant(study, label, &variant, false, err);
    spec_free(&variant);
    return ok;
}

/* Without what only a pipeline has where it is none. */
static bool add_strategy(struct study *study, const struct spec *spec,
                         const struct device_list *devices, enum strategy strategy,
                         struct error *err)
{
    struct figure count;
    struct spec variant;
    char label[60];
    snprintf(label, sizeof label, "%s%s%s", study_devices(devices->count, &count),
             devices->count > 1 ? ", " : "", devices->count > 1 ? strategy_name(strategy) : "");
    if (!spec_copy(&variant, spec, err))
        return false;
    bool ok = spec_set(&variant, "strategy", strategy_name(strategy), err) &&
              (strategy == STRATEGY_PIPELINE || (spec_set(&variant, "micro-batches", "0", err) &&
                                                 spec_set(&variant, "replicas", "1", err) &&
                                                 spec_set(&variant, "stages", "", err))) &&
              add_devices(study, label, &variant, devices, err);
    spec_free(&variant);
    return ok;
}

/* One number of devices with each strategy; a single one is there already. */
static bool add_strategies(struct study *study, const char *names, const struct spec *spec,
                           const struct device_list *devices, struct error *err)
{
    for (const char *at = names; at && devices->count > 1;) {
        enum strategy strategy = STRATEGY_DATA;
        char name[60];
        next_part(&at, ",", name, sizeof name);
        if (!strategy_find(name, &strategy))
            return error_set(err, ERROR_USAGE,
                             "--strategies: '%.40s' is none of data, pipeline, tensor and mixed",
                             name);
        if (!add_strategy(study, spec, devices, strategy, err))
            return false;
    }
    return true;
}

static bool plan_strategies(struct study *study, const struct study_request *request,
                            const struct spec *spec, struct device_list *devices, struct error *err)
{
    if (devices->count < 2)
        return error_set(err, ERROR_USAGE, "--strategies: %s", nothing_to_divide);
    study->strategies = true;
    devices->count = 1;
    bool ok = add_strategy(study, spec, devices, STRATEGY_DATA, err);
    for (const char *at = request->counts; ok && at;) {
        char part[16];
        next_part(&at, ",", part, sizeof part);
        devices->count = atoi(part);
        ok = add_strategies(study, request->strategies, spec, devices, err);
    }
    return ok;
}

/* "2 devices", "2 hosts" */
static const char *label_of(const struct device_list *devices, struct figure *text)
{
    const int hosts = sweep_hosts(devices);
    if (hosts == 0)
        return study_devices(devices->count, text);
    snprintf(text->text, sizeof text->text, "%d host%s", hosts, plural(hosts));
    return text->text;
}

static bool plan_counts(struct study *study, const struct study_request *request, struct spec *spec,
                        struct error *err)
{
    struct device_list devices = *request->pool;
    int most = study_most(request->counts);
    if (most == 0)
        return error_set(err, ERROR_USAGE,
                         "--devices-counts '%s' must be whole numbers from 1 to %d with commas "
                         "between",
                         request->counts, SPEC_MAX_DEVICES);
    if (most > request->pool->count)
        return error_set(err, ERROR_USAGE, "--devices-counts %d: there %s only %d device%s", most,
                         request->pool->count == 1 ? "is" : "are", request->pool->count,
                         plural(request->pool->count));
    devices.count = most;
    if (!sweep_prepare(spec, sweep_host_cpus(&devices), study->cores, err))
        return false;
    if (request->strategies)
        return plan_strategies(study, request, spec, &devices, err);
    for (const char *at = request->counts; at;) {
        struct figure label;
        char part[16];
        next_part(&at, ",", part, sizeof part);
        devices.count = atoi(part);
        if (!add_devices(study, label_of(&devices, &label), spec, &devices, err))
            return false;
    }
    return true;
}

/* Lists of devices, with ';' or blanks between. */
static bool plan_lists(struct study *study, const struct study_request *request, struct spec *spec,
                       struct error *err)
{
    int most_cpus = 0;
    char part[400];
    struct device_list devices;
    study->lists = true;
    for (int pass = 0; pass < 2; pass++) {
        for (const char *at = request->lists; at;) {
            if (!next_part(&at, "; ", part, sizeof part)) {
                if (part[0] != '\0')
                    return error_set(err, ERROR_USAGE, "--devices-list: a list is too long");
                continue; /* "cpu:0; cpu:1" */
            }
            if (!device_list_parse(part, &devices, err))
                return error_prefix(err, "--devices-list");
            if (devices.choice != DEVICES_LISTED)
                return error_set(err, ERROR_USAGE, "--devices-list: '%.60s' must name its devices",
                                 part);
            const int cpus = sweep_host_cpus(&devices);
            most_cpus = cpus > most_cpus ? cpus : most_cpus;
            char *label = pass == 1 ? device_list_text(&devices) : NULL;
            if (pass == 1 && !label)
                return error_memory(err, "devices");
            bool ok = pass == 0 || add_devices(study, label, spec, &devices, err);
            free(label);
            if (!ok)
                return false;
        }
        if (!sweep_prepare(spec, most_cpus, study->cores, err))
            return false;
    }
    return study->variant_count > 0 ||
           error_set(err, ERROR_USAGE, "--devices-list names no devices");
}

/* A variant with the values that `spec` has of the varied settings. */
static bool add_values(struct study *study, const struct study_request *request, struct spec *spec,
                       struct error *err)
{
    char label[sizeof study->variants->label] = "";
    size_t used = 0;
    if (!fill(request, spec, err) || !spec_validate(spec, err))
        return false;
    const bool one = spec->devices.choice == DEVICES_LISTED && spec->devices.count < 2;
    for (int i = 0; i < study->varied_count && used < sizeof label; i++) {
        if (one && strcmp(study->varied[i], "strategy") == 0)
            return error_set(err, ERROR_USAGE, "strategy: %s", nothing_to_divide);
        char *value = spec_get(spec, study->varied[i], err);
        if (!value)
            return false;
        used += (size_t)snprintf(label + used, sizeof label - used, "%s%s %s", i > 0 ? ", " : "",
                                 study->varied[i], value);
        free(value);
    }
    return used < sizeof label ? add_variant(study, label, spec, request->only_given, err)
                               : error_set(err, ERROR_USAGE, "'%.40s...' is too long", label);
}

/* Each combination of the values from varied setting `which` on. */
static bool plan_values(struct study *study, const struct study_request *request, int which,
                        struct spec *spec, struct error *err)
{
    const char *key = request->settings[which].key, *values = request->settings[which].values;
    for (const char *at = values; at;) {
        char value[80];
        if (!spec_next_value(key, &at, value, sizeof value))
            return error_set(err, ERROR_USAGE, "--%s '%.60s': a value between commas is %s", key,
                             values, value[0] ? "too long" : "missing");
        if (!spec_set(spec, key, value, err))
            return false;
        if (!(which + 1 < study->varied_count ? plan_values(study, request, which + 1, spec, err)
                                              : add_values(study, request, spec, err)))
            return false;
    }
    return true;
}

/* How many there are; more than a study has need not be made first. */
static bool count_combinations(const struct study *study, const struct study_request *request,
                               struct error *err)
{
    long count = 1;
    for (int i = 0; i < study->varied_count; i++) {
        long values = 0;
        char value[80];
        for (const char *at = request->settings[i].values; at; values++)
            spec_next_value(request->settings[i].key, &at, value, sizeof value);
        count *= values;
    }
    return count <= STUDY_VARIANTS ||
           error_set(err, ERROR_USAGE,
                     "these values make %ld variants, %ld runs: a comparison has at most %d "
                     "variants",
                     count, count * request->repeats, STUDY_VARIANTS);
}

static bool plan_variants(struct study *study, const struct study_request *request,
                          struct spec *spec, struct error *err)
{
    for (int i = 0; i < STUDY_VARIED && request->settings[i].key; i++)
        snprintf(study->varied[study->varied_count++], sizeof study->varied[0], "%s",
                 request->settings[i].key);
    if (study->varied_count > 0) {
        study->kind = STUDY_SETTINGS;
        return count_combinations(study, request, err) &&
               sweep_prepare(spec, 0, study->cores, err) &&
               plan_values(study, request, 0, spec, err);
    }
    study->kind = STUDY_DEVICES;
    if (request->strategies && !spec_set(spec, "strategy", "data", err))
        return false;
    return fill(request, spec, err) && (request->lists ? plan_lists(study, request, spec, err)
                                                       : plan_counts(study, request, spec, err));
}

static bool plan_order(struct study *study, uint64_t seed, struct error *err)
{
    int count = study->variant_count * study->repeats;
    study->entries = calloc((size_t)count, sizeof *study->entries);
    if (!study->entries)
        return error_memory(err, "comparison");
    study->entry_count = count;
    for (int i = 0; i < count; i++) {
        int repeat = i / study->variant_count;
        study->entries[i] = (struct study_entry){.variant = i % study->variant_count,
                                                 .repeat = repeat,
                                                 .seed = (seed + (uint64_t)repeat) & INT64_MAX};
    }
    return true;
}

bool study_plan(struct study *study, const struct study_request *request, struct error *err)
{
    struct spec spec;
    *study = (struct study){.scaling = request->scaling,
                            .repeats = request->repeats,
                            .cores = request->cores,
                            .target_acc = request->target_acc};
    spec_init(&spec);
    bool ok = spec_copy(&spec, request->spec, err) && plan_variants(study, request, &spec, err) &&
              plan_order(study, spec.seed, err);
    spec_free(&spec);
    return ok;
}
