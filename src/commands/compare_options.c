/* SPDX-License-Identifier: MIT */
#include "commands/compare_options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/run_spec.h"
#include "client/session.h"
#include "experiment/sweep.h"
#include "spec/set.h"
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
        pool->id[i] = (struct device_id){DEVICE_CPU, i};
    return true;
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

/* A batch or learning rate that is one value is a setting; several are what is compared. */
static bool take_values(struct invocation *invocation, const char *key, const char **several,
                        struct error *err)
{
    const char *value = invocation_value(invocation, key);
    *several = value && strchr(value, ',') ? value : NULL;
    return !value || *several || spec_set(&invocation->settings.spec, key, value, err);
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

/* All that a command line wants but the devices of the machine. */
static bool take_request(struct invocation *invocation, struct study_request *request,
                         struct error *err)
{
    *request = (struct study_request){.spec = &invocation->settings.spec,
                                      .counts = invocation_value(invocation, "devices-counts"),
                                      .lists = invocation_value(invocation, "devices-list"),
                                      .cores = affinity_count()};
    if (!take_values(invocation, "batch", &request->batches, err) ||
        !take_values(invocation, "lr", &request->rates, err) ||
        !leave_out_checkpoints(invocation, err) || !take_numbers(invocation, request, err) ||
        !run_spec_finish(invocation, err))
        return false;
    int asked = !!request->counts + !!request->lists + !!request->batches + !!request->rates;
    if (asked > 1)
        return error_set(err, ERROR_USAGE,
                         "one thing at a time: --devices-counts, --devices-list, or several "
                         "values of --batch or --lr");
    if (invocation_has(invocation, "scaling") && (request->batches || request->rates))
        return error_set(err, ERROR_USAGE, "--scaling is for comparing devices");
    return true;
}

bool study_of_options(struct invocation *invocation, struct client *client, struct study *study,
                      struct error *err)
{
    struct study_request request;
    struct device_list pool;
    char counts[80];
    if (!take_request(invocation, &request, err))
        return false;
    if (!request.lists && !request.batches && !request.rates) {
        int most = request.counts ? study_most(request.counts) : 0;
        if (!find_pool(client, request.spec, most, &pool, err))
            return false;
        request.pool = &pool;
        all_counts(pool.count, counts, sizeof counts);
        if (!request.counts)
            request.counts = counts;
    }
    if (!study_plan(study, &request, err))
        return false;
    study->created = clock_date();
    return true;
}
