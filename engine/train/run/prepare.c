/* SPDX-License-Identifier: MIT */
#include "engine/train/run/prepare.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/train/pipeline/choose.h"
#include "engine/train/pipeline/layout.h"
#include "engine/train/resolve/inspect.h"
#include "engine/train/resolve/memory_limit.h"
#include "engine/train/run/command.h"
#include "engine/train/run/state.h"
#include "engine/train/step/rank.h"
#include "engine/train/sync/across.h"
#include "engine/train/sync/choose.h"
#include "engine/train/sync/collective.h"
#include "engine/train/tensor/tensor.h"
#include "engine/weights/file.h"
#include "engine/weights/normalization.h"

/* Those to begin with, on the first host. */
static bool read_weights(struct run *run, struct error *err)
{
    const struct spec *spec = &run->spec;
    if (run->checkpoints.keep.resumes)
        return checkpoints_read(run, err);
    if (spec->init == INIT_FILE) {
        bool ok = weights_read(run->work.net, spec->init_file, &run->work.weights, err) &&
                  normalization_read(spec->init_file, run->work.net, err);
        run->checkpoints.tracked_before = run->work.weights.batches_tracked;
        return ok;
    }
    weights_init(run->work.net, &run->work.weights, spec->init, spec->init_scale, spec->seed);
    return true;
}

static bool make_weights(struct run *run, struct error *err)
{
    return weights_create(run->work.net, &run->work.weights, err) &&
           (!meet_is_first(run) || read_weights(run, err)) && meet_share_weights(run, err);
}

/* The stages of the run before it was resumed, if it had as many devices. */
static bool keep_stages(struct run *run)
{
    const struct checkpoint_place *place = &run->checkpoints.resumed.place;
    return !run->spec.stages && place->cuts > 0 && place->cuts == run->ranks.pipeline->stages - 1 &&
           pipeline_cut(run->ranks.pipeline, place->cut);
}

/* By FLOPs, as memory_limit_check() had them. */
static bool cut_by_flops(struct run *run, struct error *err)
{
    struct pipeline_layout layout;
    int ends[SPEC_MAX_DEVICES];
    if (!pipeline_lay_out(&run->spec, run->work.net, &layout, err))
        return false;
    for (int i = 0; i < layout.count - 1; i++)
        ends[i] = layout.stage[i].end - 1;
    return pipeline_cut(run->ranks.pipeline, ends) ||
           error_set(err, ERROR_FAILED, "stages by FLOPs: %s cannot be cut there",
                     run->work.net->name);
}

/* As the spec names them, or by what operations take here. */
static bool find_stages(struct run *run, struct error *err)
{
    if (run->spec.memory_limit > 0 && !run->spec.stages)
        return cut_by_flops(run, err);
    const double work = net_training_flops(run->work.net) * (double)run->spec.batch;
    const bool measures = !run->spec.stages && run->ranks.pipeline->stages > 1;
    return (!measures || run_command(run, stage_measure, work, err)) &&
           pipeline_choose(run->ranks.pipeline, err);
}

static bool choose_stages(struct run *run, struct error *err)
{
    struct ranks *ranks = &run->ranks;
    if (!pipeline_create(ranks, err) || (!keep_stages(run) && !find_stages(run, err)))
        return false;
    char *names = pipeline_stage_names(ranks->pipeline);
    free(run->spec.stages);
    run->spec.stages = names;
    return names || error_memory(err, "names of stages");
}

/* Which part of the network is whose. */
static bool divide_network(struct run *run, struct error *err)
{
    switch (run->spec.strategy) {
    case STRATEGY_DATA:
        break;
    case STRATEGY_PIPELINE:
        return choose_stages(run, err);
    case STRATEGY_TENSOR:
    case STRATEGY_MIXED:
        return tensor_create(&run->ranks, err);
    }
    return true;
}

static void make_group(struct ranks *ranks)
{
    const struct rank *first = &ranks->rank[ranks->first];
    const bool mixed = ranks->spec->strategy == STRATEGY_MIXED;
    /* Ranks that compute all rows, or have no parameter in common, have nothing to keep equal. */
    const bool disjoint =
        !strategy_divides_rows(ranks->spec->strategy) || (mixed && first->replica->replicated == 0);
    const int buckets = mixed ? 1 : first->bucket_count;
    for (int i = 0; i < ranks->here; i++) {
        const struct rank *rank = &first[i];
        ranks->ends[i] = (struct sync_end){
            .backend = rank->backend, .device = rank->device, .replica = rank->replica};
    }
    ranks->group = (struct sync_group){
        .size = ranks->here,
        .ends = ranks->ends,
        .names = ranks->names + ranks->first,
        .barrier = ranks->barrier,
        .method = ranks->spec->sync,
        .disjoint = disjoint,
        .gathers = ranks->tensor != NULL,
        .replicated = mixed ? first->replica->replicated : 0,
        .bucket_ends = mixed ? &ranks->group.replicated : first->bucket_ends,
        .bucket_count = disjoint ? 0 : buckets,
        .limit_s = first->options.watch.limit_s,
        .link = ranks->link,
        .map = &ranks->map,
        .sync_bn = ranks->spec->sync_bn,
        .overlaps = !mixed && !ranks->spec->sync_bn,
        .squares = !mixed,
    };
}

static const struct error *refusal(const struct ranks *ranks)
{
    for (int i = ranks->first; i < ranks->first + ranks->here; i++)
        if (ranks->rank[i].refusal.kind != ERROR_NONE)
            return &ranks->rank[i].refusal;
    return NULL;
}

/* A collective of the devices may turn out not to serve only when it is tried; the host must. */
static bool join(struct run *run, bool *joined, struct error *err)
{
    for (int i = 0; i < run->ranks.count; i++)
        run->ranks.rank[i].refusal = (struct error)ERROR_INIT;
    if (!run_command(run, rank_join, 0, err))
        return false;
    const struct sync_group *group = run->ranks.rank[run->ranks.first].group;
    const struct error *why = refusal(&run->ranks);
    struct error lost = ERROR_INIT;
    *joined = !why;
    if (why)
        *err = *why;
    if (group->transport == SYNC_COLLECTIVE && !across_agree(group, joined, err, &lost)) {
        *err = lost;
        return false;
    }
    return *joined || (group->transport == SYNC_COLLECTIVE && run_command(run, rank_leave, 0, err));
}

/* Why the GPUs of several hosts are not joined, where they could have been. */
static bool warn_of_host(struct run *run, const struct error *why, struct error *err)
{
    char text[400];
    if (!run->ranks.link || run->ranks.group.transport == SYNC_COLLECTIVE ||
        why->kind == ERROR_NONE)
        return true;
    snprintf(text, sizeof text,
             "gradients of GPUs go through the memory of their hosts and MPI, which is slower than "
             "NCCL: %.300s",
             why->text);
    return report_keep_warning(&run->report, text, err);
}

/* The next way to keep replicas equal. */
static bool choose_sync(struct ranks *ranks, int *tried, struct error *why, struct error *err)
{
    struct sync_group *group = &ranks->group;
    if (ranks->pipeline)
        return pipeline_connect(ranks->pipeline, tried, why, err);
    sync_close(group);
    return sync_choose(group, tried, why, err);
}

/* Decide how the devices, all prepared, keep their replicas equal, and begin. */
static bool connect(struct run *run, struct error *err)
{
    struct error reason = ERROR_INIT;
    bool joined = false;
    int tried = 0;
    make_group(&run->ranks);
    while (!joined) {
        if (!choose_sync(&run->ranks, &tried, &reason, err))
            return false;
        if (!sync_joins(run->ranks.rank[run->ranks.first].group))
            return true;
        if (!join(run, &joined, &reason)) {
            *err = reason;
            return false;
        }
    }
    return warn_of_host(run, &reason, err);
}

static bool open_workload(struct run *run, struct error *err)
{
    const struct data_watch watch = {progress_reading, run};
    if (!workload_open(&run->work, &run->spec, &watch, err))
        return false;
    run->progress.read = run->progress.to_read = 0;
    for (char **remark = run->work.data.pictures.remarks; *remark; remark++)
        if (!report_keep_warning(&run->report, *remark, err))
            return false;
    run->live.total_steps = workload_steps(&run->work, run->spec.epochs, run->spec.max_steps);
    return true;
}

static void release_abandoned(void *context)
{
    run_release(context);
}

static const struct strategy_tasks *const strategies[] = {[STRATEGY_DATA] = &strategy_data,
                                                          [STRATEGY_PIPELINE] = &strategy_pipeline,
                                                          [STRATEGY_TENSOR] = &strategy_tensor,
                                                          [STRATEGY_MIXED] = &strategy_tensor};

static bool create_ranks(struct run *run, struct error *err)
{
    struct ranks *ranks = &run->ranks;
    ranks->spec = &run->spec;
    ranks->work = &run->work;
    ranks->strategy = strategies[run->spec.strategy];
    ranks->clock = run->limits.clock;
    ranks->stall_s = run->limits.stall_s;
    ranks->predictions = run->report.sink->predictions; /* asked for on the first host */
    ranks->abandoned = release_abandoned;
    ranks->owner = run;
    return meet_share(run, &ranks->predictions, sizeof ranks->predictions, err) &&
           ranks_create(ranks, err) &&
           (!run->spec.profile || profiler_create(&run->profiler, ranks, err));
}

/* By what they have planned: a pipeline may have been cut elsewhere. */
static bool hold_memory(const struct ranks *ranks, struct error *err)
{
    uint64_t bytes[SPEC_MAX_DEVICES];
    for (int i = 0; i < ranks->count; i++)
        bytes[i] = atomic_load(&ranks->rank[i].memory_bytes);
    return memory_limit_hold(ranks->spec, bytes, err);
}

/* What the preflight check finds is reported after the "run" event, if it does not stop the run. */
static bool inspect(struct run *run, struct error *err)
{
    const struct preflight_sink sink = {report_keep_warning, &run->report};
    return inspect_ranks(&run->ranks, &sink, err);
}

/* What a host lacks, others may have. */
static bool say_host(const struct run *run, bool ok, struct error *err)
{
    const struct host_link *link = run->ranks.link;
    return ok || (link && error_prefix(err, "%s", link->hosts.name[link->index]));
}

bool run_prepare(struct run *run, struct error *err)
{
    if (!say_host(run, open_workload(run, err), err) || !meet_compare_data(run, err) ||
        !create_ranks(run, err) || !meet_begin(run, err) || !make_weights(run, err))
        return false;
    inspect_models(&run->ranks);
    workload_normalize(&run->work);
    if (!say_host(run, checkpoints_begin(run, err), err) || !ranks_start(&run->ranks, err) ||
        !divide_network(run, err) || !run_command(run, run->ranks.strategy->prepare, 0, err) ||
        !hold_memory(&run->ranks, err) || !inspect(run, err) || !connect(run, err))
        return false;
    weights_release_pages(run->work.net, &run->work.weights); /* the devices have them now */
    load_balance_begin(&run->load_balance, &run->ranks);
    steps_begin(run);
    return true;
}

void run_release(struct run *run)
{
    pipeline_destroy(run->ranks.pipeline);
    tensor_destroy(run->ranks.tensor);
    ranks_release(&run->ranks);
    /* Not before: a device that hung may come back and read or write there. */
    checkpoints_free(&run->checkpoints);
    workload_close(&run->work);
    meet_end(run);
    metrics_free(&run->metrics);
    profiler_free(&run->profiler);
    spec_free(&run->spec);
    free(run);
}
