/* SPDX-License-Identifier: MIT */
#include "spec/spec.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "spec/fields.h"
#include "spec/hosts.h"
#include "spec/origin.h"

#define ROW(name, fetched) {name, fetched},

const struct data_name data_names[] = {DATA_SETS(ROW){NULL, false}};

void spec_init(struct spec *spec)
{
    *spec = (struct spec){
        .pictures = {.test_share = 0.2},
        .batch = 256,
        .lr = 0.1,
        .beta1 = 0.9,
        .beta2 = 0.999,
        .eps = 1e-8,
        .epochs = 10,
        .seed = 1,
        .replicas = 1,
        .host_limit = 20,
        .init = INIT_NORMAL,
        .init_scale = 0.01,
        .checkpoint_epochs = 1,
    };
}

/* The strings of its own. */
static const size_t strings[] = {offsetof(struct spec, model),       offsetof(struct spec, data),
                                 offsetof(struct spec, data_dir),    offsetof(struct spec, stages),
                                 offsetof(struct spec, init_file),   offsetof(struct spec, save),
                                 offsetof(struct spec, save_best),   offsetof(struct spec, log),
                                 offsetof(struct spec, tensorboard), offsetof(struct spec, hosts),
                                 offsetof(struct spec, launcher),    offsetof(struct spec, notify)};
enum { STRINGS = sizeof strings / sizeof *strings };

static char **string_of(struct spec *spec, size_t index)
{
    return (char **)((char *)spec + strings[index]);
}

void spec_free(struct spec *spec)
{
    for (size_t i = 0; i < STRINGS; i++)
        free(*string_of(spec, i));
    spec_init(spec);
}

bool spec_copy(struct spec *to, const struct spec *from, struct error *err)
{
    bool ok = true;
    *to = *from;
    for (size_t i = 0; i < STRINGS; i++) {
        char **string = string_of(to, i);
        if (!*string)
            continue;
        *string = strdup(*string);
        ok = ok && *string;
    }
    if (!ok) {
        spec_free(to);
        return error_memory(err, "run specification");
    }
    return true;
}

static bool validate_path(const struct spec_field *field, const struct spec *spec,
                          struct error *err)
{
    const char *path = *(char *const *)spec_field_at(spec, field);
    if (path && path[0] != '/')
        return error_set(err, ERROR_USAGE, "%s '%s' must be an absolute path", field->key, path);
    return true;
}

static bool validate_threads(const struct spec *spec, struct error *err)
{
    int cpus = 0;
    for (int i = 0; i < spec->devices.count; i++)
        cpus += spec->devices.id[i].kind == DEVICE_CPU;
    return spec->thread_count == 0 || spec->thread_count == cpus ||
           error_set(
               err, ERROR_USAGE,
               "cpu-threads has %d number%s for %d CPU device%s: give one for all of them, or "
               "one for each",
               spec->thread_count, plural(spec->thread_count), cpus, plural(cpus));
}

/* Constants that an optimizer cannot work with; each is wrong for all that have it. */
static bool validate_optimizer(const struct spec *spec, struct error *err)
{
    if (!(spec->beta1 < 1) || !(spec->beta2 < 1))
        return error_set(
            err, ERROR_USAGE,
            "%s 1: the average would keep its first value: give a number below 1, such "
            "as %s",
            spec->beta1 < 1 ? "beta2" : "beta1", spec->beta1 < 1 ? "0.999" : "0.9");
    if (!(spec->ema < 1))
        return error_set(err, ERROR_USAGE,
                         "ema 1: the average would keep its first value: give a number below 1, "
                         "such as 0.999, or 0 for none");
    return spec->eps > 0 ||
           error_set(err, ERROR_USAGE,
                     "eps 0: a parameter without gradients would be divided by 0: give a number "
                     "above 0, such as 1e-8");
}

/* The setting that asks for the accuracy after epochs; NULL: none does. */
static const char *asks_for_accuracy(const struct spec *spec)
{
    return spec->patience > 0      ? "patience"
           : spec->stop_at_acc > 0 ? "stop-at-acc"
           : spec->save_best       ? "save-best"
           : spec->validation > 0  ? "validation"
                                   : NULL;
}

/* What ends a run early needs an epoch to look at. */
static bool validate_end(const struct spec *spec, bool final, struct error *err)
{
    const char *asks = asks_for_accuracy(spec);
    if (asks && spec->schedule.shape == LR_RANGE)
        return error_set(err, ERROR_USAGE,
                         "%s: the range test of lr-schedule range has no accuracy, only losses: "
                         "leave %s out, or choose another schedule",
                         asks, asks);
    if (!final || spec->epochs > 0 || !(spec->patience > 0 || spec->stop_at_acc > 0))
        return true;
    return error_set(err, ERROR_USAGE,
                     "%s: a run of 0 epochs has no accuracy to improve: give it epochs, or %s 0",
                     asks, asks);
}

static bool validate_strategy(const struct spec *spec, struct error *err)
{
    if (spec->memory_limit > 0 && spec->split == SPLIT_AUTO)
        return error_set(err, ERROR_USAGE,
                         "memory-limit: split auto moves rows between devices while it trains, so "
                         "what they will need is not known: choose another split");
    if (!spec->sync_bn || spec->strategy != STRATEGY_PIPELINE)
        return true;
    if (spec->replicas > 1)
        return error_set(err, ERROR_USAGE,
                         "sync-bn: not with pipelines in parallel: leave sync-bn or replicas out");
    return spec->micro_batches == 1 ||
           error_set(err, ERROR_USAGE,
                     "sync-bn: statistics of the whole mini-batch are not known while its "
                     "micro-batches go through a pipeline: leave sync-bn out, or set "
                     "micro-batches 1");
}

/* What is given for each device, where their list is known: on every one of the hosts. */
bool spec_validate_listed(const struct spec *spec, struct error *err)
{
    struct spec all = *spec;
    if (spec_has_hosts(spec) && !spec_spread_devices(&all, err))
        return false;
    if (all.split == SPLIT_WEIGHTED && all.weight_count != all.devices.count)
        return error_set(err, ERROR_USAGE,
                         "split has %d weight%s for %d device%s: give one weight for each device",
                         all.weight_count, plural(all.weight_count), all.devices.count,
                         plural(all.devices.count));
    return validate_threads(&all, err);
}

/* What is told with it is not longer than a line of the protocol, whatever has to be escaped. */
enum { MOST_NOTIFY = 4096 };

bool spec_validate(const struct spec *spec, struct error *err)
{
    for (size_t i = 0; i < spec_field_count; i++)
        if (spec_fields[i].kind == FIELD_PATH && !validate_path(&spec_fields[i], spec, err))
            return false;
    if (spec->init == INIT_FILE && (!spec->init_file || spec->init_file[0] != '/'))
        return error_set(err, ERROR_USAGE, "init '%s' must be an absolute path",
                         spec->init_file ? spec->init_file : "");
    if (spec->notify && strlen(spec->notify) > MOST_NOTIFY)
        return error_set(err, ERROR_USAGE,
                         "notify must have at most %d bytes: put a longer command into a script",
                         MOST_NOTIFY);
    /* Until then a recipe may say how many epochs there are, and its warm-up may become shorter. */
    bool final = spec->resolved || spec_origin(spec, spec_find_field("epochs")) == ORIGIN_GIVEN;
    bool filled = spec_origin(spec, spec_find_field("warmup")) == ORIGIN_RECIPE;
    if (final && (spec->resolved || !filled) &&
        !lr_schedule_check(&spec->schedule, spec->epochs, err))
        return false;
    struct host_list hosts;
    if (spec_has_hosts(spec) &&
        !(spec_hosts(spec, &hosts, err) && launcher_check(spec->launcher, err)))
        return false;
    return validate_end(spec, final, err) && validate_optimizer(spec, err) &&
           validate_strategy(spec, err) &&
           (spec->devices.choice != DEVICES_LISTED || spec_validate_listed(spec, err));
}
