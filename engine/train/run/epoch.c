/* SPDX-License-Identifier: MIT */
#include "engine/train/run/run_state.h"

#include "base/clock.h"
#include "engine/train/split/order.h"

/* Steps of the run that the devices have been given. */
static long steps_given(const struct run *run)
{
    return run->figures.steps + run->ahead.pending;
}

static bool take_steps(struct run *run, double start, double *paused_s, struct error *err)
{
    for (long begin = run->figures.epoch.steps * run->spec.batch;
         begin < run->train_rows && steps_given(run) < run->total_steps; begin += run->spec.batch) {
        if (!run_wait_while_paused(run, paused_s, err) || !run_take_changes(run, err))
            return false;
        run->stopped = run_stop_asked(run) >= RUN_STOP_STEP;
        if (run->stopped)
            break;
        if (!run_profile_begin(run, err) || !run_step(run, begin, err))
            return false;
        run->epoch_spent_s = clock_seconds() - start - *paused_s;
        if (!run_checkpoint_step(run, err))
            return false;
        progress_tick(run);
    }
    return run_drain(run, err);
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
    if (!take_steps(run, start, &paused_s, err))
        return false;
    figures_end_epoch(&run->figures, clock_seconds() - start - paused_s);
    run->epoch_spent_s = 0;
    return true;
}
