/* SPDX-License-Identifier: MIT */
#include "engine/train/pipeline/layout.h"

#include <stdlib.h>
#include <string.h>

#include "engine/train/pipeline/schedule.h"
#include "engine/train/split/split.h"
#include "engine/train/split/stages.h"

/* Bytes per second at which a stage copies what it gives to its neighbours. */
static const double COPY_SPEED = 4e9;

/* What all possible cuts divide the network into. */
struct segments {
    int stages, cuts, micro_batches;
    double *seconds;  /* [part][stage][segment] */
    double *whole;    /* [stage][segment]: all parts, for a micro-batch */
    double *transfer; /* [cut] */
};

static double *at(const struct segments *s, double *table, int part, int stage, int segment)
{
    return &table[(size_t)(part * s->stages + stage) * (size_t)(s->cuts + 1) + (size_t)segment];
}

/* Of passes, how many a micro-batch has. */
static double share_of(const struct segments *s, int part)
{
    return part == PIPELINE_FINISH ? (double)pipeline_windows(s->micro_batches) / s->micro_batches
                                   : 1;
}

/* Where a cut parts a BatchNorm from a convolution that could read its input instead, storing its
 * output costs about as much as handing over again, which is left out. */
static void sum_up(const struct segments *s, const struct net *net, long rows,
                   const double *const *seconds, const int *ends)
{
    for (int part = 0; part < PIPELINE_PARTS; part++)
        for (int i = 0; i < s->stages; i++)
            for (int op = 0, segment = 0; op < net->op_count; op++) {
                const double each = seconds[i][part * net->op_count + op];
                *at(s, s->seconds, part, i, segment) += each;
                *at(s, s->whole, 0, i, segment) += each * share_of(s, part);
                segment += segment < s->cuts && op == ends[segment];
            }
    for (int i = 0; i < s->cuts; i++)
        s->transfer[i] =
            (double)rows * (double)net_cut_size(net, ends[i]) * sizeof(float) / COPY_SPEED;
}

static bool play(const struct segments *s, const int *chosen, double *step_s, struct error *err)
{
    double parts[PIPELINE_PARTS][SPEC_MAX_DEVICES] = {{0}};
    struct pipeline_prediction played;
    for (int i = 0, segment = 0; i < s->stages; i++) {
        const bool last = i == s->stages - 1;
        if (i > 0)
            parts[PIPELINE_BACKWARD][i] = s->transfer[chosen[i - 1]];
        if (!last)
            parts[PIPELINE_FORWARD][i] = s->transfer[chosen[i]];
        for (; segment <= (last ? s->cuts : chosen[i]); segment++)
            for (int part = 0; part < PIPELINE_PARTS; part++)
                parts[part][i] += *at(s, s->seconds, part, i, segment);
        parts[PIPELINE_FINISH][i] *= pipeline_windows(s->micro_batches);
    }
    if (!pipeline_predict(parts[PIPELINE_FORWARD], parts[PIPELINE_BACKWARD], parts[PIPELINE_FINISH],
                          s->stages, s->micro_batches, &played, err))
        return false;
    *step_s = played.step_s;
    return true;
}

static bool choose(const struct segments *s, int *chosen, struct error *err)
{
    int list[2][SPEC_MAX_DEVICES];
    double step_s[2];
    for (int i = 0; i < 2; i++) {
        const struct stage_costs costs = {
            .seconds = s->whole, .transfer = s->transfer, .fill = (double)i / s->micro_batches};
        if (!stages_choose(&costs, s->cuts, s->stages, list[i], err) ||
            !play(s, list[i], &step_s[i], err))
            return false;
    }
    memcpy(chosen, list[step_s[1] < step_s[0]], sizeof *list);
    return true;
}

bool pipeline_ends(const struct net *net, const struct micro_split *split, int stages,
                   const double *const *seconds, int *ends, struct error *err)
{
    struct segments s = {
        .stages = stages, .cuts = net_cuts(net, ends), .micro_batches = split->count};
    const size_t count = (size_t)(stages * (s.cuts + 1));
    int chosen[SPEC_MAX_DEVICES];
    s.seconds = calloc(PIPELINE_PARTS * count, sizeof *s.seconds);
    s.whole = calloc(count, sizeof *s.whole);
    s.transfer = calloc((size_t)s.cuts + 1, sizeof *s.transfer);
    bool ok = (s.seconds && s.whole && s.transfer) || error_memory(err, "stages of a pipeline");
    if (ok) {
        sum_up(&s, net, split->rows[0], seconds, ends);
        ok = choose(&s, chosen, err);
    }
    for (int i = 0; ok && i < stages - 1; i++)
        ends[i] = ends[chosen[i]];
    free(s.seconds);
    free(s.whole);
    free(s.transfer);
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
    const size_t count = (size_t)net->op_count;
    double *all = calloc(PIPELINE_PARTS * count + 1, sizeof *all);
    if (!all)
        return error_memory(err, "stages of a pipeline");
    for (size_t i = 0; i < count; i++) {
        all[PIPELINE_FORWARD * count + i] = forward[i] * (double)rows * FLOP_S;
        all[PIPELINE_BACKWARD * count + i] = backward[i] * (double)rows * FLOP_S;
    }
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
