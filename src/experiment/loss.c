/* SPDX-License-Identifier: MIT */
#include "experiment/loss.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/figure.h"
#include "base/text.h"
#include "spec/names.h"

/* A second cause is named when it takes at least this part of what the first takes. */
#define WORTH_NAMING 0.4
/* What is lost by a cause, as a part of the time, before it is named at all. */
#define NOTICEABLE 0.03

/* What is particular to a strategy. */
static const struct {
    const char *as, *waits, *slower, *who, *small;
} strategies[STRATEGIES] = {
    [STRATEGY_DATA] = {"", "unequal shares or speeds", "", "", "small shards"},
    [STRATEGY_PIPELINE] = {" as a pipeline", "the pipeline fills and empties, unequal stages",
                           "small micro-batches, shared memory or caches", "stages",
                           "small micro-batches"},
    [STRATEGY_TENSOR] = {" with tensor parallelism",
                         "they wait for each other at every layer, unequal parts",
                         "what each device does over all channels, all-gather, narrow layers",
                         "devices", "work over all channels, all-gather, narrow layers"},
    [STRATEGY_MIXED] = {" with mixed parallelism",
                        "they wait for each other at every linear layer, unequal shares",
                        "small shards, all-gather, narrow linear layers", "devices",
                        "small shards, all-gather, narrow linear layers"},
};

bool loss_is_crowded(const struct outcome *outcome, int cores)
{
    return cores > 0 && outcome->threads > cores;
}

/* Devices times seconds for a row, and what they are spent on. */
struct cost {
    double whole, compute, sync, wait;
};

static struct cost cost_of(const struct outcome *outcome)
{
    double whole = outcome->devices / outcome->samples_per_s.median;
    struct cost cost = {.whole = whole,
                        .sync = whole * loss_or_zero(outcome->sync_share),
                        .wait = whole * loss_or_zero(outcome->wait_share)};
    cost.compute = whole - cost.sync - cost.wait;
    return cost;
}

/* Each device computes another part than the base did, so all of them together are compared. */
static void describe_slower_parts(const struct outcome *outcome, const struct outcome *base,
                                  int cores, struct loss *losses)
{
    struct cost now = cost_of(outcome), before = cost_of(base);
    bool crowded = loss_is_crowded(outcome, cores);
    struct loss *loss = &losses[crowded ? CAUSE_CORES : CAUSE_SLOWER];
    loss->share = loss_or_zero((now.compute - before.compute) / now.whole);
    if (crowded)
        snprintf(loss->words, sizeof loss->words,
                 "devices that share cores (%d threads of %d CPU device%s on %d core%s)",
                 outcome->threads, outcome->cpus, plural(outcome->cpus), cores, plural(cores));
    else
        snprintf(loss->words, sizeof loss->words,
                 "%s (the %s together compute %.2f times as long for as many rows)",
                 strategies[outcome->strategy].slower, strategies[outcome->strategy].who,
                 now.compute / before.compute);
}

/* Devices compute their rows slower than the base's did: by how much of the time. */
static void describe_slower(const struct outcome *outcome, const struct outcome *base, int cores,
                            struct loss *losses)
{
    double slower = 1 - outcome->device_rate / base->device_rate;
    double computing = 1 - loss_or_zero(outcome->sync_share) - loss_or_zero(outcome->wait_share);
    bool crowded = loss_is_crowded(outcome, cores);
    struct figure figures[2];
    const char *now = figure_count(&figures[0], outcome->device_rate);
    const char *before = figure_count(&figures[1], base->device_rate);
    struct loss *loss = &losses[crowded ? CAUSE_CORES : CAUSE_SLOWER];
    loss->share = loss_or_zero(slower) * computing;
    if (crowded)
        snprintf(loss->words, sizeof loss->words,
                 "devices that share cores (%d threads of %d CPU device%s on %d core%s: each "
                 "device computes %s samples/s, not %s)",
                 outcome->threads, outcome->cpus, plural(outcome->cpus), cores, plural(cores), now,
                 before);
    else if (outcome->rows < 0.99 * base->rows)
        snprintf(loss->words, sizeof loss->words,
                 "small batches per device (%.0f row%s, not %.0f: each device computes %s "
                 "samples/s, not %s)",
                 outcome->rows, plural(outcome->rows), base->rows, now, before);
    else
        snprintf(loss->words, sizeof loss->words,
                 "shared memory, caches or power (each device computes %s samples/s, not %s, of "
                 "as many rows)",
                 now, before);
}

void losses_of_devices(const struct outcome *outcome, const struct outcome *base, int cores,
                       struct loss losses[CAUSES])
{
    double before = loss_or_zero(base->wait_share), wait = loss_or_zero(outcome->wait_share);
    double input = fmax(0, loss_or_zero(outcome->input_share - before));
    int all_reduce = loss_percent(loss_or_zero(outcome->sync_share));
    memset(losses, 0, CAUSES * sizeof *losses);
    (outcome->strategy == STRATEGY_DATA ? describe_slower : describe_slower_parts)(outcome, base,
                                                                                   cores, losses);
    losses[CAUSE_SYNC].share = loss_or_zero(outcome->sync_share) - loss_or_zero(base->sync_share);
    snprintf(losses[CAUSE_SYNC].words, sizeof losses[CAUSE_SYNC].words,
             "all-reduce (%d%% of the devices' time)", all_reduce);
    losses[CAUSE_WAIT].share = wait - before - input;
    snprintf(losses[CAUSE_WAIT].words, sizeof losses[CAUSE_WAIT].words,
             "devices that wait for each other (%d%% of their time: %s, or other work on the "
             "cores)",
             loss_percent(wait - loss_or_zero(outcome->input_share)),
             strategies[outcome->strategy].waits);
    losses[CAUSE_INPUT].share = input;
    snprintf(losses[CAUSE_INPUT].words, sizeof losses[CAUSE_INPUT].words,
             "input (work between steps takes %d%% of the time of one device, %d%% of that of %d)",
             loss_percent(before), loss_percent(loss_or_zero(outcome->input_share)),
             outcome->devices);
}

void losses_of_strategy(const struct outcome *slow, const struct outcome *fast,
                        struct loss losses[CAUSES])
{
    struct cost more = cost_of(slow), less = cost_of(fast);
    const char *name = strategy_name(slow->strategy), *other = strategy_name(fast->strategy);
    losses[CAUSE_SYNC].share = (more.sync - less.sync) / more.whole;
    snprintf(losses[CAUSE_SYNC].words, sizeof losses[CAUSE_SYNC].words,
             "%s's devices all-reduce %d%% of their time, %s's %d%%", name,
             loss_percent(loss_or_zero(slow->sync_share)), other,
             loss_percent(loss_or_zero(fast->sync_share)));
    losses[CAUSE_WAIT].share = (more.wait - less.wait) / more.whole;
    snprintf(losses[CAUSE_WAIT].words, sizeof losses[CAUSE_WAIT].words,
             "%s's devices wait %d%% of their time (%s), %s's %d%%", name,
             loss_percent(loss_or_zero(slow->wait_share)), strategies[slow->strategy].waits, other,
             loss_percent(loss_or_zero(fast->wait_share)));
    losses[CAUSE_SLOWER].share = (more.compute - less.compute) / more.whole;
    snprintf(losses[CAUSE_SLOWER].words, sizeof losses[CAUSE_SLOWER].words,
             "%s's devices compute %.2f times as long for as many rows (%s)", name,
             more.compute / less.compute, strategies[slow->strategy].small);
}

static int largest(const struct loss losses[CAUSES], int but)
{
    int most = -1;
    for (int i = 0; i < CAUSES; i++)
        if (i != but && losses[i].share >= NOTICEABLE &&
            (most < 0 || losses[i].share > losses[most].share))
            most = i;
    return most;
}

void losses_largest(const struct loss losses[CAUSES], int *first, int *second)
{
    *first = largest(losses, -1);
    *second = *first < 0 ? -1 : largest(losses, *first);
    if (*second >= 0 && losses[*second].share < WORTH_NAMING * losses[*first].share)
        *second = -1;
}

const char *loss_name(enum cause cause)
{
    static const char *const names[CAUSES] = {[CAUSE_CORES] = "sharing cores",
                                              [CAUSE_SYNC] = "all-reduce",
                                              [CAUSE_WAIT] = "waiting for each other",
                                              [CAUSE_INPUT] = "input",
                                              [CAUSE_SLOWER] = "slower computing"};
    return names[cause];
}

const char *loss_of_what(enum strategy strategy)
{
    return strategies[strategy].as;
}
