/* SPDX-License-Identifier: MIT */
#include "engine/train/run/run_state.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"

/* Steps: given to the devices, and taken when they are done. */

static bool can_queue(const struct run *run)
{
    for (int i = 0; i < run->rank_count; i++)
        if (!run->ranks[i].backend->plan_queue)
            return false;
    return run->rank_count == 1 ||
           (run->group.transport == SYNC_COLLECTIVE && run->group.collective->overlaps);
}

void run_begin_steps(struct run *run)
{
    run->ahead.queues = can_queue(run);
    /* A profile is of steps that do not overlap. */
    run->ahead.most = run->ahead.queues && !run->profile ? PASSES_AHEAD : 0;
}

const struct step *run_oldest_step(const struct run *run)
{
    return &run->ahead.steps[(run->figures.steps + 1) % PASSES_QUEUED];
}

static struct step make_step(const struct run *run, long begin)
{
    const struct figures *figures = &run->figures;
    long batch = run->spec.batch < run->train_rows ? run->spec.batch : run->train_rows;
    long left = run->train_rows - begin;
    return (struct step){
        .number = figures->steps + run->ahead.pending + 1,
        .size = left < batch ? PASS_SHORT : PASS_FULL,
        .begin = begin,
        .rows = left < batch ? left : batch,
        .epoch = (uint32_t)figures->epoch.epoch,
        .sgd = {(float)run->lr, (float)run->spec.momentum, (float)run->spec.weight_decay},
        .begin_s = clock_seconds(),
    };
}

/* Work of the device with the largest shard. */
static double step_flops(const struct run *run, const struct step *step)
{
    int most = 0;
    for (int i = 0; i < run->rank_count; i++) {
        int rows = run->ranks[i].train[step->size].rows;
        most = rows > most ? rows : most;
    }
    return most * net_training_flops(run->net);
}

/*
 * Guessing costs ln(classes). A loss of so many times that does come back at times, when a few rows
 * are very wrong; one that stays there for several steps does not.
 */
#define EXPLODED       1000
#define EXPLODED_STEPS 5

static bool explodes(struct run *run, double loss)
{
    double guessing = log(run->net->classes > 1 ? run->net->classes : 2);
    run->exploded = loss > EXPLODED * guessing ? run->exploded + 1 : 0;
    return run->exploded >= EXPLODED_STEPS;
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
                     run->figures.steps, run->lr, run->spec.batch,
                     run->spec.init == INIT_FILE ? ", or the initial weights are broken"
                                                 : ": try a smaller one");
}

/*
 * On the devices' clocks a reduction lasts from the end of a device's pass to the end of the sums,
 * which is the same moment everywhere. What all of them need for it is what the last one needs; the
 * others have waited for that one.
 */
static void tell_waiting(struct step_part *parts, int count)
{
    double least = parts[0].times.reduce_s;
    for (int i = 1; i < count; i++)
        least = fmin(least, parts[i].times.reduce_s);
    for (int i = 0; i < count; i++) {
        struct step_times *times = &parts[i].times;
        times->meet_s = times->reduce_s - least;
        times->wait_s += times->meet_s;
        times->reduce_s = least;
    }
}

/* The oldest step is done. */
static bool finish_step(struct run *run, struct error *err)
{
    const struct step step = *run_oldest_step(run);
    struct step_part parts[SPEC_MAX_DEVICES];
    double loss = 0, joined = clock_seconds();
    for (int i = 0; i < run->rank_count; i++) {
        parts[i] = run->ranks[i].parts[step.number % PASSES_QUEUED];
        loss += parts[i].result.loss_sum;
    }
    if (run->ahead.queues && run->rank_count > 1)
        tell_waiting(parts, run->rank_count);
    loss /= (double)step.rows;
    double now = clock_seconds(), seconds = now - fmax(step.begin_s, run->ahead.last_end);
    run->ahead.last_end = now;
    run->ahead.pending--;
    figures_step(&run->figures, parts, run->rank_count, seconds);
    if (!report_step(run, &step, parts, loss, seconds, err) || !report_notes(run, &step, err))
        return false;
    run_profile_step(run, step.begin_s, joined, parts);
    if (!isfinite(loss) || explodes(run, loss))
        return diverged(run, loss, err);
    return run_balance_load(run, &step, err);
}

bool run_drain(struct run *run, struct error *err)
{
    while (run->ahead.pending > 0)
        if (!run_command(run, rank_take, step_flops(run, run_oldest_step(run)), err) ||
            !finish_step(run, err))
            return false;
    return true;
}

bool run_step(struct run *run, long begin, struct error *err)
{
    struct ahead *ahead = &run->ahead;
    const struct step step = make_step(run, begin);
    if ((run->advised || ahead->passes[step.size] < 2) && !run_drain(run, err))
        return false;
    run->step = ahead->steps[step.number % PASSES_QUEUED] = step;
    ahead->pending++;
    ahead->takes = ahead->pending > (ahead->passes[step.size]++ > 0 ? ahead->most : 0);
    return run_command(run, rank_step, step_flops(run, &step), err) &&
           (!ahead->takes || finish_step(run, err));
}
