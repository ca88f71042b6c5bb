/* SPDX-License-Identifier: MIT */
#include "engine/train/pipeline/pipeline.h"

#include <stdlib.h>

/* The micro-batches of a full and, where it occurs, of a short mini-batch. */
static bool split_batches(struct pipeline *pipeline, struct error *err)
{
    struct ranks *ranks = pipeline->ranks;
    const struct spec *spec = ranks->spec;
    for (int size = 0; size < PASS_SIZES; size++) {
        const long rows = ranks->rank[0].train[size].rows;
        struct micro_split *split = &pipeline->split[size];
        if (rows > 0 && !micro_split(spec->split, rows, (int)spec->micro_batches, split, err))
            return false;
        for (int i = 0; i < ranks->count; i++)
            for (int k = 0; k < 2; k++)
                ranks->rank[i].micro[size][k].rows = (int)split->rows[k];
    }
    return true;
}

/* What the stage does in a step. */
static bool plan_tasks(struct pipeline *pipeline, int index, struct error *err)
{
    const int stages = pipeline->ranks->count;
    for (int size = 0; size < PASS_SIZES; size++) {
        const int count = pipeline->split[size].count;
        struct pipeline_task *tasks = calloc(2 * (size_t)count + 1, sizeof *tasks);
        pipeline->stage[index].tasks[size] = tasks;
        if (!tasks)
            return error_memory(err, "tasks of a pipeline");
        pipeline_schedule(index, stages, count, tasks);
    }
    return true;
}

static bool prepare_stages(struct pipeline *pipeline, struct error *err)
{
    const struct ranks *ranks = pipeline->ranks;
    for (int i = 0; i < ranks->count; i++) {
        double *seconds = calloc((size_t)ranks->work->net->op_count, sizeof *seconds);
        pipeline->stage[i].seconds = seconds;
        pipeline->stage[i].spans =
            calloc(2 * (size_t)pipeline->split[PASS_FULL].count, sizeof *pipeline->stage[i].spans);
        if (!seconds || !pipeline->stage[i].spans)
            return error_memory(err, "times of operations");
        if (!plan_tasks(pipeline, i, err))
            return false;
    }
    return true;
}

/* By one rule a short mini-batch may have more micro-batches than a full one: 4 rows in chunks for
 * three are two, 3 rows are three. */
static int slots_of(const struct pipeline *pipeline, int stage)
{
    int most = 1;
    for (int size = 0; size < PASS_SIZES; size++) {
        const int depth =
            pipeline_depth(stage, pipeline->ranks->count, pipeline->split[size].count);
        most = depth > most ? depth : most;
    }
    return most;
}

bool pipeline_create(struct ranks *ranks, struct error *err)
{
    struct pipeline *pipeline = calloc(1, sizeof *pipeline);
    if (!pipeline)
        return error_memory(err, "a pipeline");
    const struct handover_options options = {.stages = ranks->count,
                                             .names = ranks->names,
                                             .limit_s = ranks->wait_limit_s,
                                             .spin_s = ranks->spin_s,
                                             .barrier = ranks->barrier};
    pipeline->ranks = ranks;
    ranks->pipeline = pipeline;
    if (!split_batches(pipeline, err) || !prepare_stages(pipeline, err) ||
        !handover_create(&options, &pipeline->handover, err))
        return false;
    for (int i = 0; i < ranks->count; i++)
        ranks->rank[i].slots = slots_of(pipeline, i);
    return true;
}

void pipeline_destroy(struct pipeline *pipeline)
{
    if (!pipeline)
        return;
    for (int i = 0; i < SPEC_MAX_DEVICES; i++) {
        free(pipeline->stage[i].seconds);
        free(pipeline->stage[i].spans);
        for (int size = 0; size < PASS_SIZES; size++)
            free(pipeline->stage[i].tasks[size]);
    }
    handover_destroy(pipeline->handover);
    free(pipeline);
}
