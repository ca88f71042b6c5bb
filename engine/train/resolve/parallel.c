/* SPDX-License-Identifier: MIT */
#include "engine/train/resolve/parallel.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "engine/backends/registry.h"
#include "engine/device/device.h"
#include "engine/net/slice.h"
#include "engine/net/stage.h"
#include "engine/train/split/division.h"
#include "engine/train/split/micro.h"
#include "engine/train/split/shares.h"
#include "spec/fields.h"
#include "spec/hosts.h"
#include "spec/names.h"
#include "spec/origin.h"

/* Enough for a bubble of a fifth at most (Huang et al. 2019, GPipe, arXiv:1811.06965). */
enum { MICRO_BATCHES_PER_STAGE = 4 };

static bool check_devices(const struct spec *spec, struct error *err)
{
    const bool pipeline = spec->strategy == STRATEGY_PIPELINE;
    for (int i = 0; i < spec->devices.count; i++) {
        const char *why = "";
        char name[DEVICE_NAME];
        const struct backend *backend = backend_find(spec->devices.id[i].kind, &why);
        if (!backend || !(pipeline ? backend->plan_forward != NULL : backend->slices))
            return error_set(err, ERROR_USAGE,
                             "strategy %s: %s cannot %s: list other devices, or take "
                             "strategy data",
                             strategy_name(spec->strategy),
                             device_id_text(spec->devices.id[i], name),
                             pipeline ? "be a stage" : "compute parts of layers");
        if (spec->devices.id[i].kind != spec->devices.id[0].kind)
            return error_set(err, ERROR_USAGE,
                             "strategy %s: CPU devices and GPUs lay out values in other ways: list "
                             "devices of one kind, or take strategy data",
                             strategy_name(spec->strategy));
    }
    return true;
}

/* A device's first rows make what all devices then work on. */
static bool check_rows(const struct spec *spec, long rows, struct error *err)
{
    struct row_shares shares;
    char name[DEVICE_NAME];
    if (!share_rows(spec, rows, 0, &shares, err))
        return false;
    for (int i = 0; i < spec->devices.count; i++)
        if (shares.device[i].full == 0)
            return error_set(err, ERROR_USAGE,
                             "strategy mixed: %s would have no row of a mini-batch of %ld: give "
                             "it more rows, or take strategy tensor",
                             device_id_text(spec->devices.id[i], name),
                             rows < spec->batch ? rows : spec->batch);
    return true;
}

/* Settings about rows that are divided over devices. */
static bool check_settings(const struct spec *spec, struct error *err)
{
    const char *who = spec->strategy == STRATEGY_PIPELINE ? "the stages of a pipeline"
                                                          : "devices that divide layers";
    if (spec->strategy == STRATEGY_MIXED && spec->split == SPLIT_AUTO)
        return error_set(err, ERROR_USAGE,
                         "split auto: not with strategy mixed, whose devices wait for each other "
                         "inside a step: choose another split, or take strategy data");
    if (spec->strategy != STRATEGY_MIXED &&
        (spec->split == SPLIT_AUTO || spec->split == SPLIT_WEIGHTED))
        return error_set(err, ERROR_USAGE,
                         "split %s: %s compute the same rows: leave split out, or take strategy "
                         "data",
                         split_rule_name(spec->split), who);
    return spec->sync == SYNC_ALLREDUCE ||
           error_set(err, ERROR_USAGE,
                     "sync %s: %s have parameters of their own, which only allreduce suits: leave "
                     "sync out, or take strategy data",
                     sync_method_name(spec->sync), who);
}

static bool check_slices(const struct spec *spec, const struct net *net, struct error *err)
{
    struct net_slice slice;
    bool ok =
        net_slice_make(net, strategy_division(spec->strategy), 0, spec->devices.count, &slice, err);
    if (ok)
        net_slice_free(&slice);
    return ok || error_prefix(err, "strategy %s", strategy_name(spec->strategy));
}

static bool check_stages(const struct spec *spec, const struct net *net, struct error *err)
{
    const int count = spec_stages(spec);
    int *ends = calloc((size_t)net->op_count + 1, sizeof *ends);
    if (!ends)
        return error_memory(err, "stages of a pipeline");
    const int cuts = net_cuts(net, ends);
    bool ok = count - 1 <= cuts ||
              error_set(err, ERROR_USAGE,
                        "strategy pipeline: %s can be cut into %d stage%s at most, one for each "
                        "device%s, and there are %d devices: take fewer, or more pipelines "
                        "(replicas)",
                        net->name, cuts + 1, plural(cuts + 1),
                        spec->replicas > 1 ? " of a pipeline" : "", count);
    ok = ok && (!spec->stages || net_stages_named(net, spec->stages, count - 1, ends, err));
    free(ends);
    return ok;
}

static bool check_micro_batches(const struct spec *spec, long rows, struct error *err)
{
    struct micro_split split;
    return micro_split(spec->split, rows, (int)spec->micro_batches, &split, err);
}

static bool resolve_micro_batches(struct spec *spec, long rows, struct error *err)
{
    const int stages = spec_stages(spec);
    struct row_shares shares;
    if (!share_rows(spec, rows, 0, &shares, err))
        return false;
    /* The last pipeline has the fewest rows. */
    const long least = shares.device[spec->devices.count - 1].full;
    const char *of =
        spec->replicas > 1 ? "the last pipeline's part of a mini-batch" : "a mini-batch";
    if (spec->micro_batches > least)
        return error_set(err, ERROR_USAGE,
                         "micro-batches %ld: %s has %ld row%s: give fewer micro-batches, or %s",
                         spec->micro_batches, of, least, plural(least),
                         rows > spec->batch ? "a larger batch" : "more training rows");
    if (spec->micro_batches == 0) {
        const long usual = stages > 1 ? MICRO_BATCHES_PER_STAGE * stages : 1;
        spec->micro_batches = usual < least ? usual : least;
    }
    for (int i = 0; i < spec->devices.count; i += stages) {
        if (!check_micro_batches(spec, shares.device[i].full, err))
            return false;
        if (!check_micro_batches(spec, shares.device[i].rest, err))
            return error_prefix(err, "the last mini-batch of an epoch");
    }
    return true;
}

static bool check_replicas(const struct spec *spec, long rows, struct error *err)
{
    const long batch = rows < spec->batch ? rows : spec->batch;
    struct row_shares shares;
    if (spec->devices.count % spec->replicas != 0)
        return error_set(err, ERROR_USAGE,
                         "replicas %ld: %d device%s cannot be divided equally over %ld pipelines: "
                         "give another number of devices or replicas",
                         spec->replicas, spec->devices.count, plural(spec->devices.count),
                         spec->replicas);
    if (!share_rows(spec, rows, 0, &shares, err))
        return error_prefix(err, "replicas %ld", spec->replicas);
    return shares.device[spec->devices.count - 1].full > 0 ||
           error_set(err, ERROR_USAGE,
                     "replicas %ld: of the %ld row%s of a mini-batch the last pipeline would have "
                     "none: give fewer replicas, another split, or a larger batch",
                     spec->replicas, batch, plural(batch));
}

bool resolve_parallel(struct spec *spec, const struct net *net, long rows, struct error *err)
{
    if (spec->strategy == STRATEGY_DATA)
        return true;
    if (spec_has_hosts(spec))
        return error_set(err, ERROR_USAGE,
                         "strategy %s: over several hosts only rows are divided: list devices of "
                         "one host, or take strategy data",
                         strategy_name(spec->strategy));
    if (!check_devices(spec, err) || !check_settings(spec, err))
        return false;
    if (spec->strategy == STRATEGY_PIPELINE)
        return check_replicas(spec, rows, err) && check_stages(spec, net, err) &&
               resolve_micro_batches(spec, rows, err);
    return check_slices(spec, net, err) &&
           (spec->strategy != STRATEGY_MIXED || check_rows(spec, rows, err));
}

/* Not one that the program chose, when the run was another. */
static bool is_given(const struct spec *spec, const char *key)
{
    return spec_origin(spec, spec_find_field(key)) == ORIGIN_GIVEN;
}

bool inspect_parallel(const struct spec *spec, const struct preflight_sink *sink, struct error *err)
{
    const bool micro_batches = spec->micro_batches > 0 && is_given(spec, "micro-batches");
    const bool stages = spec->stages && is_given(spec, "stages");
    const bool replicas = spec->replicas > 1 && is_given(spec, "replicas");
    char text[160];
    if (spec->strategy == STRATEGY_PIPELINE || (!micro_batches && !stages && !replicas))
        return true;
    snprintf(text, sizeof text,
             "not used: %s%s%s%s%s: only a pipeline has them; leave them out, or take strategy "
             "pipeline",
             micro_batches ? "micro-batches" : "",
             micro_batches && (stages || replicas) ? ", " : "", stages ? "stages" : "",
             stages && replicas ? ", " : "", replicas ? "replicas" : "");
    return sink->warn(sink->context, text, err);
}
