/* SPDX-License-Identifier: MIT */
#include "engine/train/pipeline/pipeline.h"

#include <stdlib.h>

#include "engine/train/pipeline/layout.h"
#include "engine/train/sync/choose.h"
#include "engine/train/sync/sync.h"

/* The micro-batches of a rank in a full and, where it occurs, in a short mini-batch. */
static bool split_batches(struct pipeline *pipeline, struct rank *rank, struct error *err)
{
    const struct spec *spec = pipeline->ranks->spec;
    for (int size = 0; size < PASS_SIZES; size++) {
        const long rows = rank->train[size].rows;
        struct micro_split *split = &pipeline->split[rank->pipeline_index][size];
        if (!micro_split(spec->split, rows, (int)spec->micro_batches, split, err))
            return false;
        for (int k = 0; k < 2; k++)
            rank->micro[size][k] = (struct rank_pass){
                .rows = (int)split->rows[k], .finish_rows = (int)pipeline_window_rows(split)};
        if (rank->index > 0) {
            const struct rank *last = rank - 1;
            rank->train[size].before =
                last->train[size].before + (rank->stage_index > 0 ? 0 : last->train[size].rows);
        }
    }
    return true;
}

/* What the stage does in a step. */
static bool plan_tasks(struct pipeline *pipeline, const struct rank *rank, struct error *err)
{
    for (int size = 0; size < PASS_SIZES; size++) {
        const int count = pipeline->split[rank->pipeline_index][size].count;
        struct pipeline_task *tasks = calloc(2 * (size_t)count + 1, sizeof *tasks);
        pipeline->stage[rank->index].tasks[size] = tasks;
        if (!tasks)
            return error_memory(err, "tasks of a pipeline");
        pipeline_schedule(rank->stage_index, pipeline->stages, count, tasks);
    }
    return true;
}

/* By one rule a short mini-batch may have more micro-batches than a full one: 4 rows in chunks for
 * three are two, 3 rows are three. */
static int slots_of(const struct pipeline *pipeline, const struct rank *rank)
{
    int most = 1;
    for (int size = 0; size < PASS_SIZES; size++) {
        const int depth = pipeline_depth(rank->stage_index, pipeline->stages,
                                         pipeline->split[rank->pipeline_index][size].count);
        most = depth > most ? depth : most;
    }
    return most;
}

static bool prepare_stage(struct pipeline *pipeline, struct rank *rank, struct error *err)
{
    struct pipeline_stage *stage = &pipeline->stage[rank->index];
    rank->stage_index = rank->index % pipeline->stages;
    rank->pipeline_index = rank->index / pipeline->stages;
    if (!split_batches(pipeline, rank, err))
        return false;
    const int count = pipeline->split[rank->pipeline_index][PASS_FULL].count;
    stage->seconds = calloc(PIPELINE_PARTS * (size_t)pipeline->ranks->work->net->op_count,
                            sizeof *stage->seconds);
    stage->spans = calloc(2 * (size_t)count, sizeof *stage->spans);
    stage->finish = calloc((size_t)pipeline_windows(count), sizeof *stage->finish);
    if (!stage->seconds || !stage->spans || !stage->finish)
        return error_memory(err, "times of operations");
    rank->slots = slots_of(pipeline, rank);
    return plan_tasks(pipeline, rank, err);
}

bool pipeline_create(struct ranks *ranks, struct error *err)
{
    struct pipeline *pipeline = calloc(1, sizeof *pipeline);
    if (!pipeline)
        return error_memory(err, "a pipeline");
    ranks->pipeline = pipeline;
    pipeline->ranks = ranks;
    pipeline->stages = spec_stages(ranks->spec);
    pipeline->count = (int)ranks->spec->replicas;
    for (int i = 0; i < ranks->count; i++)
        if (!prepare_stage(pipeline, &ranks->rank[i], err))
            return false;
    for (int i = 0; i < pipeline->count; i++) {
        const struct handover_options options = {.stages = pipeline->stages,
                                                 .names = &ranks->names[i * pipeline->stages],
                                                 .party = i * pipeline->stages,
                                                 .limit_s = ranks->wait_limit_s,
                                                 .spin_s = ranks->spin_s,
                                                 .barrier = ranks->barrier};
        if (!handover_create(&options, &pipeline->handover[i], err))
            return false;
    }
    return true;
}

static void make_group(struct pipeline *pipeline, int number)
{
    struct ranks *ranks = pipeline->ranks;
    struct pipeline_group *of = &pipeline->groups[number];
    for (int i = 0; i < pipeline->count; i++) {
        struct rank *rank = &ranks->rank[i * pipeline->stages + number];
        rank->group = &of->group;
        rank->group_number = i;
        of->ends[i] = (struct sync_end){
            .backend = rank->backend, .device = rank->device, .replica = rank->replica};
        of->parties[i] = rank->index;
        of->names[i] = ranks->names[rank->index];
    }
    of->group = (struct sync_group){.size = pipeline->count,
                                    .ends = of->ends,
                                    .names = of->names,
                                    .barrier = ranks->barrier,
                                    .parties = of->parties,
                                    .method = SYNC_ALLREDUCE,
                                    .bucket_ends = of->bucket_ends,
                                    .bucket_count =
                                        sync_buckets(of->ends[0].replica->count, of->bucket_ends),
                                    .limit_s = ranks->rank[number].options.watch.limit_s};
}

static bool devices_differ(const struct ranks *ranks)
{
    const struct device_id *id = ranks->spec->devices.id;
    for (int i = 0; i < ranks->count; i++)
        for (int j = 0; j < i; j++)
            if (id[i].kind == id[j].kind && id[i].index == id[j].index)
                return false;
    return true;
}

/* Operations of two communicators that wait for others on one GPU could block each other. */
static void skip_communicators(const struct ranks *ranks, int *tried)
{
    const struct collective *const *list = ranks->rank[0].backend->collectives;
    if (!list || devices_differ(ranks))
        return;
    while (list[*tried] && list[*tried]->overlaps)
        ++*tried;
}

/* For each stage by itself. *alike: all come to the same way. */
static bool choose_for_stages(struct pipeline *pipeline, int *tried, bool *alike, struct error *why,
                              struct error *err)
{
    const struct sync_group *first = &pipeline->groups[0].group;
    const int from = *tried;
    *alike = true;
    for (int i = 0; i < pipeline->stages; i++) {
        struct sync_group *group = &pipeline->groups[i].group;
        int next = from;
        sync_close(group);
        make_group(pipeline, i);
        if (!sync_choose(group, &next, why, err))
            return false;
        *tried = next > *tried ? next : *tried;
        *alike = *alike && group->transport == first->transport &&
                 group->collective == first->collective;
    }
    return true;
}

/* All groups go one way, so that all ranks come to the barrier equally often. */
bool pipeline_connect(struct pipeline *pipeline, int *tried, struct error *why, struct error *err)
{
    bool alike;
    if (pipeline->count == 1)
        return true;
    skip_communicators(pipeline->ranks, tried);
    if (!choose_for_stages(pipeline, tried, &alike, why, err))
        return false;
    for (int i = 0; !alike && i < pipeline->stages; i++) {
        struct sync_group *group = &pipeline->groups[i].group;
        sync_close(group);
        if (!sync_choose_host(group, why->text, err))
            return false;
    }
    return true;
}

void pipeline_destroy(struct pipeline *pipeline)
{
    if (!pipeline)
        return;
    for (int i = 0; i < SPEC_MAX_DEVICES; i++) {
        free(pipeline->stage[i].seconds);
        free(pipeline->stage[i].spans);
        free(pipeline->stage[i].finish);
        for (int size = 0; size < PASS_SIZES; size++)
            free(pipeline->stage[i].tasks[size]);
        handover_destroy(pipeline->handover[i]);
        sync_close(&pipeline->groups[i].group);
    }
    free(pipeline);
}
