/* SPDX-License-Identifier: MIT */
#include "engine/train/run_state.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "engine/train/order.h"

static void set_step(struct run *run, long begin)
{
    struct figures *figures = &run->figures;
    long batch = run->spec.batch < run->train_rows ? run->spec.batch : run->train_rows;
    long left = run->train_rows - begin;
    run->step = (struct step){
        .size = left < batch ? PASS_SHORT : PASS_FULL,
        .begin = begin,
        .rows = left < batch ? left : batch,
        .epoch = (uint32_t)figures->epoch.epoch,
        .sgd = {(float)run->lr, (float)run->spec.momentum, (float)run->spec.weight_decay},
    };
}

/* Work of the device with the largest shard. */
static double step_flops(const struct run *run)
{
    int most = 0;
    for (int i = 0; i < run->member_count; i++) {
        int rows = run->members[i].train[run->step.size].rows;
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

/* One step whose rows begin at `begin` of the epoch's order. */
static bool take_step(struct run *run, long begin, struct error *err)
{
    struct step_part parts[SPEC_MAX_DEVICES];
    double loss = 0, start = clock_seconds();
    set_step(run, begin);
    if (!run_command(run, member_step, step_flops(run), err))
        return false;
    double joined = clock_seconds();
    for (int i = 0; i < run->member_count; i++) {
        const struct member *member = &run->members[i];
        parts[i] =
            (struct step_part){member->train[run->step.size].rows, member->result, member->times};
        loss += member->result.loss_sum;
    }
    loss /= (double)run->step.rows;
    double seconds = clock_seconds() - start;
    figures_step(&run->figures, parts, run->member_count, seconds);
    if (!report_step(run, loss, seconds, err) || !report_notes(run, err))
        return false;
    run_profile_step(run, start, joined, parts);
    if (!isfinite(loss) || explodes(run, loss))
        return diverged(run, loss, err);
    return run_reshare(run, err);
}

bool run_epoch(struct run *run, long epoch, struct error *err)
{
    double paused_s = 0;
    struct order order =
        order_make(run->spec.order, run->spec.seed, (uint32_t)epoch, (uint32_t)run->train_rows);
    figures_begin_epoch(&run->figures, epoch);
    double start = clock_seconds() - run_resume_epoch(run);
    progress_phase(run, PHASE_TRAIN);
    order_fill(&order, run->order);
    for (long begin = run->figures.epoch.steps * run->spec.batch;
         begin < run->train_rows && run->figures.steps < run->total_steps;
         begin += run->spec.batch) {
        if (!run_wait_while_paused(run, &paused_s, err) || !run_take_changes(run, err))
            return false;
        run->stopped = run_stop_asked(run) >= RUN_STOP_STEP;
        if (run->stopped)
            break;
        if (!run_profile_begin(run, err) || !take_step(run, begin, err))
            return false;
        run->epoch_spent_s = clock_seconds() - start - paused_s;
        if (!run_checkpoint_step(run, err))
            return false;
        progress_tick(run);
    }
    figures_end_epoch(&run->figures, clock_seconds() - start - paused_s);
    run->epoch_spent_s = 0;
    return true;
}
