/* SPDX-License-Identifier: MIT */
#include "engine/train/pipeline/choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/train/pipeline/layout.h"
#include "engine/train/step/rank.h"

/* Passes that count; the first pass of a plan, which loads what it needs, does not. */
enum { PASSES_TIMED = 3 };

static void clear_times(struct plan_time *times, int count)
{
    for (int i = 0; i < count; i++)
        times[i].seconds = 0;
}

/* Gathering rows belongs to the first operation, the loss to the last one. */
static void take_times(struct plan_time *times, int count, int operations, double *seconds)
{
    for (int i = 0; i < count; i++) {
        const int place = times[i].part == PLAN_OPERATION ? times[i].place
                          : times[i].part == PLAN_INPUT   ? 0
                                                          : operations - 1;
        seconds[place] += times[i].seconds;
    }
    clear_times(times, count);
}

/* All parts of a micro-batch that is a window of its own. */
static bool time_pass(struct rank *rank, struct plan *plan, const struct batch *batch,
                      double *seconds, struct error *err)
{
    const struct micro_batch micro = {.first = true, .last = true};
    const struct backend *backend = rank->backend;
    const int operations = rank->ranks->work->net->op_count;
    struct batch_result result;
    bool any;
    int count;
    struct plan_time *times = backend->plan_profile(plan, &count);
    clear_times(times, count);
    memset(seconds, 0, PIPELINE_PARTS * (size_t)operations * sizeof *seconds);
    if (!backend->plan_forward(rank->device, plan, batch, &micro, &result, err))
        return false;
    take_times(times, count, operations, seconds + PIPELINE_FORWARD * operations);
    if (!backend->plan_backward(rank->device, plan, batch, &micro, err))
        return false;
    take_times(times, count, operations, seconds + PIPELINE_BACKWARD * operations);
    if (backend->plan_finish &&
        !backend->plan_finish(rank->device, plan, batch->rows, false, &any, err))
        return false;
    take_times(times, count, operations, seconds + PIPELINE_FINISH * operations);
    rank_progress(rank);
    return true;
}

/* The least of some passes, as other work on the machine only adds to them. */
static bool time_passes(struct rank *rank, struct plan *plan, const struct batch *batch,
                        double *least, struct error *err)
{
    const int entries = PIPELINE_PARTS * rank->ranks->work->net->op_count;
    double *seconds = malloc((size_t)entries * sizeof *seconds);
    bool ok = seconds || error_memory(err, "times of operations");
    for (int pass = 0; ok && pass <= PASSES_TIMED; pass++) {
        ok = time_pass(rank, plan, batch, seconds, err);
        for (int i = 0; ok && i < entries; i++)
            if (pass < 2 || seconds[i] < least[i])
                least[i] = seconds[i];
    }
    free(seconds);
    return ok;
}

static bool measure_plan(struct rank *rank, const struct rank_pass *pass, struct error *err)
{
    const struct ranks *ranks = rank->ranks;
    const int rows = pass->rows;
    const struct plan_request request = {
        .rows = rows, .finish_rows = pass->finish_rows, .slots = 1, .profile = true};
    struct plan *plan = NULL;
    uint32_t *index = malloc((size_t)rows * sizeof *index);
    if (!index)
        return error_memory(err, "rows to measure");
    for (int i = 0; i < rows; i++)
        index[i] = (uint32_t)i;
    const struct batch batch = {.data = &ranks->work->data.train,
                                .index = index,
                                .rows = rows,
                                .global_rows = rows,
                                .seed = ranks->spec->seed};
    bool ok = rank->backend->plan_create(rank->device, rank->replica, &request, &plan, err) &&
              time_passes(rank, plan, &batch, ranks->pipeline->stage[rank->index].seconds, err);
    if (plan)
        rank->backend->plan_destroy(rank->device, plan);
    free(index);
    return ok;
}

bool stage_measure(void *context, int index, struct error *err)
{
    struct ranks *ranks = context;
    struct rank *rank = &ranks->rank[index];
    const struct net_stage whole = net_whole(ranks->work->net);
    rank_show(rank, ACTIVITY_PREPARE);
    bool ok =
        rank_open(rank, err) && rank_replicate(rank, &whole, err) &&
        replica_import(rank->backend, rank->device, rank->replica, &ranks->work->weights, err) &&
        measure_plan(rank, &rank->micro[PASS_FULL][0], err);
    rank_shut(rank);
    return ok;
}

bool pipeline_cut(struct pipeline *pipeline, const int *ends)
{
    struct ranks *ranks = pipeline->ranks;
    struct net_stage stages[SPEC_MAX_DEVICES];
    if (!net_stages(ranks->work->net, ends, pipeline->stages - 1, stages))
        return false;
    for (int i = 0; i < ranks->count; i++)
        ranks->rank[i].stage = stages[ranks->rank[i].stage_index];
    return true;
}

/* By what was measured. */
static bool choose(const struct pipeline *pipeline, int *ends, struct error *err)
{
    const struct net *net = pipeline->ranks->work->net;
    const double *seconds[SPEC_MAX_DEVICES];
    for (int i = 0; i < pipeline->ranks->count; i++) {
        /* Of the devices that have a stage the slowest counts. */
        double *slowest = pipeline->stage[i % pipeline->stages].seconds;
        for (int j = 0; j < PIPELINE_PARTS * net->op_count; j++)
            slowest[j] = fmax(slowest[j], pipeline->stage[i].seconds[j]);
        seconds[i % pipeline->stages] = slowest;
    }
    return pipeline_ends(net, &pipeline->split[0][PASS_FULL], pipeline->stages, seconds, ends, err);
}

bool pipeline_choose(struct pipeline *pipeline, struct error *err)
{
    const struct ranks *ranks = pipeline->ranks;
    const struct net *net = ranks->work->net;
    int *ends = calloc((size_t)net->op_count, sizeof *ends);
    if (!ends)
        return error_memory(err, "stages of a pipeline");
    bool ok = ranks->spec->stages
                  ? net_stages_named(net, ranks->spec->stages, pipeline->stages - 1, ends, err)
              : pipeline->stages > 1 ? choose(pipeline, ends, err)
                                     : true;
    ok = ok && (pipeline_cut(pipeline, ends) ||
                error_set(err, ERROR_FAILED, "stages: the network cannot be cut so"));
    free(ends);
    return ok;
}

char *pipeline_stage_names(const struct pipeline *pipeline)
{
    const struct ranks *ranks = pipeline->ranks;
    struct text text = TEXT_INIT;
    char name[NET_STAGE_NAME];
    for (int i = 0; i < pipeline->stages - 1; i++)
        text_printf(&text, "%s%s", i > 0 ? "," : "",
                    net_stage_name(ranks->work->net, &ranks->rank[i].stage, name));
    const char *names = text_cstr(&text);
    char *copy = names ? strdup(names) : NULL;
    text_free(&text);
    return copy;
}
