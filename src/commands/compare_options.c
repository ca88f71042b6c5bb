/* SPDX-License-Identifier: MIT */
#include "commands/compare_options.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/run_spec.h"
#include "client/session.h"
#include "experiment/plan.h"
#include "experiment/sweep.h"
#include "spec/fill.h"
#include "spec/hosts.h"
#include "spec/json.h"
#include "spec/set.h"
#include "spec/values.h"
#include "system/affinity.h"

/* CPU devices of a comparison that names none: a made-up device is a thread, so no more than cores,
 * and no more than many machines have GPUs. */
enum { CPUS_MOST = 8 };

/* The GPUs that can be used, the first `limit` of them (0: all); none is no error. */
static bool list_gpus(struct client *client, int limit, struct device_list *pool, struct error *err)
{
    json_t *list = NULL;
    size_t index;
    json_t *device;
    *pool = (struct device_list){.choice = DEVICES_LISTED};
    if (!client_call(client, "devices", NULL, SESSION_SECONDS, &list, err))
        return false;
    json_array_foreach(list, index, device)
    {
        struct device_list one;
        struct error ignored = ERROR_INIT;
        if (json_is_true(json_object_get(device, "available")) &&
            device_list_parse(member_text(device, "device"), &one, &ignored) &&
            one.choice == DEVICES_LISTED && one.id[0].kind == DEVICE_CUDA &&
            pool->count < SPEC_MAX_DEVICES && (limit == 0 || pool->count < limit))
            pool->id[pool->count++] = one.id[0];
    }
    json_decref(list);
    return true;
}

/* The GPUs that are free now, for all runs of the comparison; the engine refuses to choose those of
 * hosts. */
static bool choose_free(struct client *client, struct spec *spec, struct error *err)
{
    struct device_list *devices = &spec->devices;
    if (devices->choice != DEVICES_FREE_GPUS && devices->free == 0)
        return true;
    char *text = device_list_text(devices);
    json_t *result = NULL,
           *params = json_pack("{s:s, s:s*}", "devices", text, "hosts", spec->hosts);
    free(text);
    bool ok = params ? client_call(client, "check", params, SUBMIT_SECONDS, &result, err) &&
                           device_list_parse(member_text(result, "devices"), devices, err)
                     : error_memory(err, "devices");
    devices->free = 0;
    json_decref(result);
    return ok;
}

/* The devices of which the first N are taken: those listed, else the GPUs, else CPUs. */
static bool find_pool(struct client *client, const struct spec *spec, int most,
                      struct device_list *pool, struct error *err)
{
    *pool = spec->devices;
    if (pool->choice == DEVICES_LISTED)
        return true;
    if (!list_gpus(client, spec->devices.choice == DEVICES_FIRST_GPUS ? spec->devices.count : 0,
                   pool, err))
        return false;
    if (pool->count > 0)
        return true;
    if (spec->devices.choice != DEVICES_DEFAULT)
        return error_set(err, ERROR_USAGE,
                         "there is no GPU that can be used: 'dpartui devices' says why");
    int cores = affinity_count();
    pool->count = most > 0 ? most : cores < CPUS_MOST ? cores : CPUS_MOST;
    for (int i = 0; i < pool->count; i++)
        pool->id[i] = (struct device_id){.kind = DEVICE_CPU, .index = i};
    return true;
}

/* Those of a comparison over hosts: what is listed, or a CPU device, on each. The settings name no
 * hosts then: the devices do. */
static bool spread_pool(struct spec *spec, struct device_list *pool, struct error *err)
{
    if (spec->devices.choice != DEVICES_LISTED)
        spec->devices = (struct device_list){.choice = DEVICES_LISTED, .count = 1};
    if (!spec_spread_devices(spec, err))
        return false;
    *pool = spec->devices;
    return spec_set(spec, "hosts", "", err);
}

/* "1,2" hosts as numbers of devices, of which each host has equally many. */
static bool count_devices(const char *hosts_counts, const struct device_list *pool, char *buffer,
                          size_t size, struct error *err)
{
    struct host_list hosts;
    size_t used = 0;
    const int most = study_most(hosts_counts);
    const struct spec named = {.devices = *pool};
    if (most == 0)
        return error_set(err, ERROR_USAGE,
                         "--hosts-counts '%s' must be whole numbers with commas between",
                         hosts_counts);
    if (!spec_hosts(&named, &hosts, err))
        return false;
    if (most > hosts.count)
        return error_set(err, ERROR_USAGE, "--hosts-counts %d: there %s only %d host%s", most,
                         hosts.count == 1 ? "is" : "are", hosts.count, plural(hosts.count));
    if (pool->count % hosts.count != 0)
        return error_set(err, ERROR_USAGE,
                         "--hosts-counts: each host has to have equally many devices");
    for (const char *at = hosts_counts; *at && used < size; at += *at == ',') {
        char *end;
        const long count = strtol(at, &end, 10) * (pool->count / hosts.count);
        used += (size_t)snprintf(buffer + used, size - used, "%s%ld", used ? "," : "", count);
        at = end;
    }
    return used < size || error_set(err, ERROR_USAGE, "--hosts-counts: too many numbers");
}

/* 1, 2, 4... and all of them. */
static void all_counts(int most, char *buffer, size_t size)
{
    int counts[SWEEP_RUNS], count = sweep_counts(most, counts);
    size_t used = 0;
    buffer[0] = '\0';
    for (int i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(buffer + used, size - used, "%s%d", i > 0 ? "," : "", counts[i]);
}

/* The settings that have several values are what is compared. */
static bool take_settings(struct invocation *invocation, struct study_request *request,
                          struct error *err)
{
    const struct option *options = invocation->command->options;
    int count = 0;
    for (size_t i = 0; options[i].name; i++) {
        const char *key = options[i].name, *value = invocation->values[i];
        if (!value || !spec_is_list(key, value))
            continue;
        if (count == STUDY_VARIED)
            return error_set(err, ERROR_USAGE,
                             "--%s, --%s and --%s have several values: at most two settings can",
                             request->settings[0].key, request->settings[1].key, key);
        request->settings[count++] = (struct study_setting){key, value};
    }
    return true;
}

static bool take_numbers(struct invocation *invocation, struct study_request *request,
                         struct error *err)
{
    const char *repeats = invocation_value(invocation, "repeats");
    const char *target = invocation_value(invocation, "target-acc");
    const char *scaling = invocation_value(invocation, "scaling");
    long count = 1;
    if (repeats && !parse_long(repeats, 1, STUDY_REPEATS, &count))
        return error_set(err, ERROR_USAGE, "--repeats '%s' must be a whole number from 1 to %d",
                         repeats, STUDY_REPEATS);
    request->repeats = (int)count;
    request->target_acc = NAN;
    if (target && !parse_double(target, 0, 1, &request->target_acc))
        return error_set(err, ERROR_USAGE, "--target-acc '%s' must be a number from 0 to 1",
                         target);
    if (scaling && strcmp(scaling, "strong") != 0 && strcmp(scaling, "weak") != 0)
        return error_set(err, ERROR_USAGE, "--scaling '%s' is neither strong nor weak", scaling);
    request->scaling = scaling && strcmp(scaling, "weak") == 0 ? SCALING_WEAK : SCALING_STRONG;
    return true;
}

/* Writing checkpoints would take time from the runs that are measured. */
static bool leave_out_checkpoints(struct invocation *invocation, struct error *err)
{
    return invocation_has(invocation, "checkpoint-every") ||
           spec_set(&invocation->settings.spec, "checkpoint-every", "off", err);
}

static bool check_strategies(struct invocation *invocation, const struct study_request *request,
                             struct error *err)
{
    if (invocation_has(invocation, "strategy"))
        return error_set(err, ERROR_USAGE, "--strategy and --strategies exclude each other");
    if (request->settings[0].key)
        return error_set(err, ERROR_USAGE,
                         "--%s has several values: with --strategies only the devices vary",
                         request->settings[0].key);
    return !request->lists ||
           error_set(err, ERROR_USAGE,
                     "--devices-list has no meaning with --strategies: give --devices, and "
                     "--devices-counts for several numbers of them");
}

/* All that a command line wants but the devices of the machine. */
static bool take_request(struct invocation *invocation, struct study_request *request,
                         struct error *err)
{
    *request = (struct study_request){.spec = &invocation->settings.spec,
                                      .counts = invocation_value(invocation, "devices-counts"),
                                      .lists = invocation_value(invocation, "devices-list"),
                                      .strategies = invocation_value(invocation, "strategies"),
                                      .cores = affinity_count()};
    if (!take_settings(invocation, request, err) || !leave_out_checkpoints(invocation, err) ||
        !take_numbers(invocation, request, err) || !run_spec_finish(invocation, err))
        return false;
    bool settings = request->settings[0].key;
    if (!!request->counts + !!request->lists + settings > 1)
        return error_set(err, ERROR_USAGE,
                         "one thing at a time: --devices-counts, --devices-list, or several "
                         "values of settings");
    if (invocation_has(invocation, "scaling") && settings)
        return error_set(err, ERROR_USAGE, "--scaling is for comparing devices");
    return !request->strategies || check_strategies(invocation, request, err);
}

struct filling {
    struct client *client;
    const char *lists; /* of devices */
    long train_rows;   /* of all that were filled in; -1: of none yet, 0: they differ */
};

/* The network and data that the engine takes where none are named. */
static bool take_names(struct spec *spec, const struct spec *resolved, struct error *err)
{
    return (spec->model || spec_set(spec, "model", resolved->model, err)) &&
           (spec->data || spec_set(spec, "data", resolved->data, err));
}

/* What the engine fills in, so that runs differ in nothing but what is compared. */
static bool take_filled(void *context, struct spec *spec, struct error *err)
{
    struct filling *filling = context;
    struct spec resolved;
    long rows = 0;
    json_t *result = NULL, *params = spec_given_to_json(spec);
    if (!params)
        return spec_json_failed(spec, err);
    /* Those are of the devices of each run; the network may depend on their kind. */
    json_object_del(params, "split");
    json_object_del(params, "stages");
    json_object_del(params, "cpu_threads");
    json_object_del(params, "hosts");
    if (filling->lists)
        json_object_set_new(params, "devices",
                            json_stringn(filling->lists, strcspn(filling->lists, "; ")));
    spec_init(&resolved);
    bool ok = client_call(filling->client, "check", params, SUBMIT_SECONDS, &result, err) &&
              spec_from_json(&resolved, result, err) && spec_take_filled(spec, &resolved, err) &&
              take_names(spec, &resolved, err) &&
              json_get_long(result, "train_rows", 0, LONG_MAX, &rows, err);
    filling->train_rows = filling->train_rows < 0 || filling->train_rows == rows ? rows : 0;
    spec_free(&resolved);
    json_decref(result);
    return ok;
}

/* Whether a network can be divided over as many devices is only known with its file. */
static bool check_divided(struct client *client, const struct study *study, struct error *err)
{
    for (int i = 0; study->strategies && i < study->variant_count; i++) {
        const struct study_variant *variant = &study->variants[i];
        if (variant->strategy != STRATEGY_DATA &&
            !client_call(client, "check", json_deep_copy(variant->spec), SUBMIT_SECONDS, NULL, err))
            return error_prefix(err, "%s", variant->label);
    }
    return true;
}

bool study_of_options(struct invocation *invocation, struct client *client, struct study *study,
                      struct error *err)
{
    struct study_request request;
    struct device_list pool;
    const char *hosts_counts = invocation_value(invocation, "hosts-counts");
    char counts[80];
    if (!take_request(invocation, &request, err) ||
        (!request.lists && !choose_free(client, &invocation->settings.spec, err)))
        return false;
    const bool hosts = spec_has_hosts(request.spec);
    if (hosts_counts && (!hosts || request.lists || request.counts || request.settings[0].key))
        return error_set(err, ERROR_USAGE,
                         "--hosts-counts compares numbers of hosts: name them with --hosts, and "
                         "let nothing else vary");
    struct filling filling = {client, request.lists, -1};
    request.fill = take_filled;
    request.context = &filling;
    if (!request.lists && !request.settings[0].key) {
        int most = request.counts ? study_most(request.counts) : 0;
        if (!(hosts ? spread_pool(&invocation->settings.spec, &pool, err)
                    : find_pool(client, request.spec, most, &pool, err)))
            return false;
        request.pool = &pool;
        if (hosts_counts && !count_devices(hosts_counts, &pool, counts, sizeof counts, err))
            return false;
        if (hosts_counts)
            request.counts = counts;
        else if (request.strategies)
            snprintf(counts, sizeof counts, "%d", pool.count);
        else
            all_counts(pool.count, counts, sizeof counts);
        if (!request.counts)
            request.counts = counts;
    }
    if (!study_plan(study, &request, err) || !check_divided(client, study, err))
        return false;
    study->created = clock_date();
    study->train_rows = filling.train_rows > 0 ? filling.train_rows : 0;
    return true;
}

enum { STEPS = 100, STEPS_LEAST = 20 };

/* "1e-4:1" */
static bool take_rates(const char *text, struct range_run *test, struct error *err)
{
    char from[32];
    size_t length = strcspn(text, ":");
    snprintf(from, sizeof from, "%.*s", (int)length, text);
    if (text[length] != ':' || length >= sizeof from ||
        !parse_double(from, 1e-12, SPEC_MAX_LR, &test->from) ||
        !parse_double(text + length + 1, 1e-12, SPEC_MAX_LR, &test->to) ||
        !(test->from < test->to && test->from >= 1e-12 * test->to))
        return error_set(
            err, ERROR_USAGE,
            "--lr-range '%.60s' must be two learning rates, the lower one first, as in "
            "1e-4:1",
            text);
    return true;
}

/* What the test sets itself, and what is for several runs. */
static bool check_options(struct invocation *invocation, struct error *err)
{
    static const char *const without[] = {
        "devices-counts", "devices-list", "strategies",  "scaling",    "hosts-counts",
        "repeats",        "predict",      "link",        "target-acc", "lr",
        "warmup",         "epochs",       "lr-schedule", "svg",        "test-rows",
        "validation",     "patience",     "stop-at-acc"};
    const struct option *options = invocation->command->options;
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (invocation_value(invocation, without[i]))
            return error_set(err, ERROR_USAGE, "--%s has no meaning with --lr-range", without[i]);
    for (size_t i = 0; options[i].name; i++)
        if (invocation->values[i] && spec_is_list(options[i].name, invocation->values[i]))
            return error_set(err, ERROR_USAGE,
                             "--%s has several values: --lr-range is a test of one run",
                             options[i].name);
    return true;
}

/* Without what configuration files say of evaluation: there is none. */
static bool leave_accuracy_out(struct spec *spec, struct error *err)
{
    return spec_set(spec, "validation", "0", err) && spec_set(spec, "patience", "0", err) &&
           spec_set(spec, "stop-at-acc", "0", err) && spec_set(spec, "save-best", "", err);
}

/* A short run. */
static bool make_spec(struct invocation *invocation, struct range_run *test, struct error *err)
{
    struct spec *spec = &invocation->settings.spec;
    char steps[24], lr[40], schedule[40];
    test->steps = spec->max_steps > 0 ? spec->max_steps : STEPS;
    if (test->steps < STEPS_LEAST)
        return error_set(err, ERROR_USAGE, "--lr-range needs at least %d steps: --max-steps",
                         STEPS_LEAST);
    snprintf(steps, sizeof steps, "%ld", test->steps);
    snprintf(lr, sizeof lr, "%.17g", test->to);
    snprintf(schedule, sizeof schedule, "range:%.17g", test->from / test->to);
    return spec_set(spec, "max-steps", steps, err) && spec_set(spec, "epochs", steps, err) &&
           spec_set(spec, "lr", lr, err) && spec_set(spec, "lr-schedule", schedule, err) &&
           spec_set(spec, "warmup", "0", err) && spec_set(spec, "checkpoint-every", "off", err) &&
           leave_accuracy_out(spec, err) && sweep_prepare(spec, 0, affinity_count(), err) &&
           run_spec_finish(invocation, err);
}

json_t *range_of_options(struct invocation *invocation, struct range_run *test, struct error *err)
{
    if (!take_rates(invocation_value(invocation, "lr-range"), test, err) ||
        !check_options(invocation, err) || !make_spec(invocation, test, err))
        return NULL;
    json_t *params = spec_given_to_json(&invocation->settings.spec);
    if (!params)
        spec_json_failed(&invocation->settings.spec, err);
    return params;
}
