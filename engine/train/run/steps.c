/* SPDX-License-Identifier: MIT */
#include "engine/train/run/steps.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "engine/train/run/command.h"
#include "engine/train/run/state.h"
#include "engine/train/step/training.h"

static bool can_queue(const struct ranks *ranks)
{
    for (int i = ranks->first; i < ranks->first + ranks->here; i++)
        if (!ranks->rank[i].backend->plan_queue)
            return false;
    return ranks_replicate(ranks) &&
           ((ranks->count == 1 && !ranks->link) ||
            (ranks->group.transport == SYNC_COLLECTIVE && ranks->group.collective->overlaps));
}

void steps_begin(struct run *run)
{
    run->ranks.queues = can_queue(&run->ranks);
    /* Profiled steps do not overlap. */
    run->steps.most = run->ranks.queues && !run->profiler.profile ? PASSES_AHEAD : 0;
}

/* Rows of a full mini-batch. */
static long full_rows(const struct run *run)
{
    return run->spec.batch < run->work.train_rows ? run->spec.batch : run->work.train_rows;
}

static struct step make_step(const struct run *run, long begin)
{
    const struct metrics *metrics = &run->metrics;
    const long batch = full_rows(run);
    const long left = run->work.train_rows - begin;
    const long number = metrics->steps + run->steps.pending + 1;
    const bool full = left >= batch;
    return (struct step){
        .number = number,
        .size = full ? PASS_FULL : PASS_SHORT,
        .begin = begin,
        .rows = full ? batch : left,
        .epoch = (uint32_t)metrics->epoch.epoch,
        .update = optimizer_step(&run->spec, live_lr(run, number - 1), number,
                                 run->checkpoints.resumed.place.state_from),
        .begin_s = clock_seconds(),
        .unprofiled = run->profiler.unprofiled_left > 0,
        .halves = full && run->ranks.measures_halves && number % run->spec.noise_every == 0,
    };
}

/* What the host has summed; of queued steps the devices say it themselves. */
static void take_squares(struct ranks *ranks)
{
    const bool host = ranks_replicate(ranks) && !ranks->queues && sync_is_needed(&ranks->group);
    for (int i = 0; i < ranks->here && host; i++) {
        struct rank *rank = &ranks->rank[ranks->first + i];
        struct step_part *part = &rank->parts[ranks->oldest % PASSES_QUEUED];
        struct noise_shard *shard = &part->noise.shards[0];
        shard->rows = part->rows;
        sync_squares(&ranks->group, i, &shard->squares, &part->noise.sum_squares);
    }
}

/* Have the ranks work on the newest step, or take the oldest one, `step`. */
static bool command(struct run *run, worker_task task, const struct step *step, struct error *err)
{
    run->ranks.oldest = run->metrics.steps + 1;
    if (!run_task(run, task, ranks_step_flops(&run->ranks, step->size), err))
        return false;
    take_squares(&run->ranks);
    return meet(run, err);
}

static const struct step *oldest_step(const struct run *run)
{
    return &run->steps.queue[(run->metrics.steps + 1) % PASSES_QUEUED];
}

/*
 * Guessing costs ln(classes). A loss of a thousand times that may recover, when a few rows are very
 * wrong; one that stays there for several steps does not.
 */
#define EXPLODED       1000
#define EXPLODED_STEPS 5

static bool explodes(struct run *run, double loss)
{
    double guessing = log(run->work.net->classes > 1 ? run->work.net->classes : 2);
    run->steps.exploded = loss > EXPLODED * guessing ? run->steps.exploded + 1 : 0;
    return run->steps.exploded >= EXPLODED_STEPS;
}

static bool diverged(const struct run *run, double loss, struct error *err)
{
    char size[32];
    snprintf(size, sizeof size, "%.3g", loss);
    return error_set(err, ERROR_FAILED,
                     "the loss is %s at step %ld: training has diverged; lr %g is probably too "
                     "high for batch %ld%s",
                     isnan(loss)   ? "not a number"
                     : isinf(loss) ? "infinite"
                                   : size,
                     run->metrics.steps, live_lr(run, run->metrics.steps - 1), run->spec.batch,
                     run->spec.init == INIT_FILE ? ", or the initial weights are broken"
                     : run->steps.exploded == run->metrics.steps
                         ? ", or the data need scaling: it was as large from the first step on"
                         : ": try a smaller one");
}

/*
 * On the devices' clocks a reduction lasts from the end of a device's pass to the end of the sums,
 * which is the same moment everywhere. The last device needs only the reduction
 * itself; the others have also waited for that one.
 */
static void separate_waiting(struct step_part *parts, int count)
{
    double least = parts[0].times.reduce_s;
    for (int i = 1; i < count; i++)
        least = fmin(least, parts[i].times.reduce_s);
    for (int i = 0; i < count; i++) {
        struct step_times *times = &parts[i].times;
        times->barrier_s = times->reduce_s - least;
        times->wait_s += times->barrier_s;
        times->reduce_s = least;
    }
}

/* Record the oldest step, which is done. */
static bool finish_step(struct run *run, struct error *err)
{
    const struct step step = *oldest_step(run);
    struct step_part parts[SPEC_MAX_DEVICES] = {0};
    double loss = 0, joined = clock_seconds();
    for (int i = 0; i < run->ranks.count; i++) {
        parts[i] = run->ranks.rank[i].parts[step.number % PASSES_QUEUED];
        loss += parts[i].result.loss_sum;
    }
    if ((run->ranks.queues && run->ranks.count > 1) || run->ranks.link)
        separate_waiting(parts, run->ranks.count);
    loss /= (double)step.rows;
    double now = clock_seconds(),
           seconds = now - fmax(step.begin_s, run->steps.last_end) - parts[0].times.measure_s;
    run->steps.last_end = now;
    run->steps.pending--;
    run->steps.measured_s += parts[0].times.measure_s;
    metrics_step(&run->metrics, parts, run->ranks.count, step.rows, seconds);
    metrics_noise(&run->metrics, parts, run->ranks.count,
                  (double)step.rows / (double)full_rows(run));
    if (!report_step(run, &step, parts, loss, seconds, err) ||
        !report_notes(&run->report, &run->ranks, step.size, err))
        return false;
    profiler_after_step(&run->profiler, &run->ranks, joined, parts);
    if (!isfinite(loss) || explodes(run, loss))
        return diverged(run, loss, err);
    return load_balance_step(run, &step, err);
}

bool steps_drain(struct run *run, struct error *err)
{
    while (run->steps.pending > 0)
        if (!command(run, rank_take, oldest_step(run), err) || !finish_step(run, err))
            return false;
    return true;
}

bool steps_give(struct run *run, long begin, struct error *err)
{
    struct steps *steps = &run->steps;
    const struct step step = make_step(run, begin);
    if ((step.halves || run->load_balance.advised || steps->passes[step.size] < 2) &&
        !steps_drain(run, err))
        return false;
    run->ranks.step = steps->queue[step.number % PASSES_QUEUED] = step;
    steps->pending++;
    run->ranks.takes = steps->pending > (steps->passes[step.size]++ > 0 ? steps->most : 0);
    return command(run, run->ranks.strategy->step, &step, err) &&
           (!run->ranks.takes || finish_step(run, err));
}
