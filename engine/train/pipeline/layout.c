/* SPDX-License-Identifier: MIT */
#include "engine/train/pipeline/layout.h"

#include <stdlib.h>

#include "engine/train/split/split.h"
#include "engine/train/split/stages.h"

/* Bytes per second at which a stage copies what it gives to its neighbours. */
static const double COPY_SPEED = 4e9;

/* What the cuts divide the network into, and what handing over costs there. Where a cut parts a
 * BatchNorm from a convolution that could read its input instead, storing its output costs about as
 * much again, which is left out. */
static void sum_up(const struct net *net, long rows, int stages, const double *const *seconds,
                   const int *ends, int cuts, double *segments, double *transfer)
{
    for (int i = 0; i < stages; i++)
        for (int op = 0, segment = 0; op < net->op_count; op++) {
            segments[i * (cuts + 1) + segment] += seconds[i][op];
            segment += segment < cuts && op == ends[segment];
        }
    for (int i = 0; i < cuts; i++)
        transfer[i] =
            (double)rows * (double)net_cut_size(net, ends[i]) * sizeof(float) / COPY_SPEED;
}

bool pipeline_ends(const struct net *net, const struct micro_split *split, int stages,
                   const double *const *seconds, int *ends, struct error *err)
{
    const int cuts = net_cuts(net, ends);
    int chosen[SPEC_MAX_DEVICES];
    double *segments = calloc((size_t)(stages * (cuts + 1)), sizeof *segments);
    double *transfer = calloc((size_t)cuts + 1, sizeof *transfer);
    bool ok = (segments && transfer) || error_memory(err, "stages of a pipeline");
    if (ok) {
        const struct stage_costs costs = {
            .seconds = segments, .transfer = transfer, .fill = 1.0 / split->count};
        sum_up(net, split->rows[0], stages, seconds, ends, cuts, segments, transfer);
        ok = stages_choose(&costs, cuts, stages, chosen, err);
    }
    for (int i = 0; ok && i < stages - 1; i++)
        ends[i] = ends[chosen[i]];
    free(segments);
    free(transfer);
    return ok;
}

/* The first operation that has any needs no gradient of its input. */
static void count_flops(const struct net *net, double *forward, double *backward)
{
    bool first = true;
    for (int i = 0; i < net->op_count; i++) {
        forward[i] = net_op_flops(net, i);
        backward[i] = first ? forward[i] : 2 * forward[i];
        first = first && forward[i] <= 0;
    }
}

/* A stand-in for seconds: no device is known, and for a choice only ratios count. */
#define FLOP_S 1e-10

static bool find_ends(const struct spec *spec, const struct net *net, const double *forward,
                      const double *backward, const struct pipeline_layout *layout, int *ends,
                      struct error *err)
{
    const int stages = spec_stages(spec);
    const long rows = layout->split.rows[0];
    const double *seconds[SPEC_MAX_DEVICES];
    if (spec->stages)
        return net_stages_named(net, spec->stages, stages - 1, ends, err);
    double *all = calloc((size_t)net->op_count + 1, sizeof *all);
    if (!all)
        return error_memory(err, "stages of a pipeline");
    for (int i = 0; i < net->op_count; i++)
        all[i] = (forward[i] + backward[i]) * (double)rows * FLOP_S;
    for (int i = 0; i < stages; i++)
        seconds[i] = all;
    bool ok = pipeline_ends(net, &layout->split, stages, seconds, ends, err);
    free(all);
    return ok;
}

static bool predict(struct pipeline_layout *out, const double *forward, const double *backward,
                    struct error *err)
{
    double ahead[SPEC_MAX_DEVICES] = {0}, back[SPEC_MAX_DEVICES] = {0}, all = 0;
    for (int i = 0; i < out->count; i++) {
        for (int op = out->stage[i].first; op < out->stage[i].end; op++) {
            ahead[i] += forward[op];
            back[i] += backward[op];
        }
        all += ahead[i] + back[i];
    }
    if (!pipeline_predict(ahead, back, NULL, out->count, out->split.count, &out->prediction, err))
        return false;
    for (int i = 0; i < out->count; i++)
        out->share[i] = all > 0 ? (ahead[i] + back[i]) / all : 0;
    out->speedup = out->prediction.step_s > 0 ? out->split.count * all / out->prediction.step_s : 1;
    return true;
}

bool pipeline_lay_out(const struct spec *spec, const struct net *net, struct pipeline_layout *out,
                      struct error *err)
{
    const size_t count = (size_t)net->op_count + 1;
    double *forward = calloc(count, sizeof *forward), *backward = calloc(count, sizeof *backward);
    int *ends = calloc(count, sizeof *ends);
    long rows[SPEC_MAX_DEVICES];
    *out = (struct pipeline_layout){.count = spec_stages(spec)};
    bool ok = (forward && backward && ends) || error_memory(err, "stages of a pipeline");
    if (ok) {
        count_flops(net, forward, backward);
        ok = split_rows(spec->split, spec->weights, spec->batch, (int)spec->replicas, rows, err) &&
             micro_split(spec->split, rows[0], (int)spec->micro_batches, &out->split, err) &&
             find_ends(spec, net, forward, backward, out, ends, err) &&
             (net_stages(net, ends, out->count - 1, out->stage) ||
              error_set(err, ERROR_FAILED, "stages: the network cannot be cut so")) &&
             predict(out, forward, backward, err);
    }
    free(forward);
    free(backward);
    free(ends);
    return ok;
}
