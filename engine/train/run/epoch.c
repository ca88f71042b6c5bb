/* SPDX-License-Identifier: MIT */
#include "engine/train/run/epoch.h"

#include <math.h>

#include "base/clock.h"
#include "engine/train/run/command.h"
#include "engine/train/run/state.h"
#include "engine/train/split/order.h"
#include "engine/train/step/evaluation.h"

/* Steps of the run that the devices have been given. */
static long steps_given(const struct run *run)
{
    return run->metrics.steps + run->steps.pending;
}

static bool take_steps(struct run *run, double start, double *paused_s, struct error *err)
{
    for (long begin = run->metrics.epoch.steps * run->spec.batch;
         begin < run->work.train_rows && steps_given(run) < run->live.total_steps;
         begin += run->spec.batch) {
        if (!live_wait_while_paused(run, paused_s, err) || !live_take_changes(run, err))
            return false;
        run->stopped = run_control_stop_asked(run->live.control) >= RUN_STOP_STEP;
        if (run->stopped)
            break;
        const long left = run->live.total_steps - run->metrics.steps;
        if (!profiler_before_step(&run->profiler, &run->ranks, left, err) ||
            !steps_give(run, begin, err))
            return false;
        run->metrics.epoch.spent_s = clock_seconds() - start - *paused_s;
        if (!checkpoints_step(run, err))
            return false;
        progress_tick(run);
    }
    return steps_drain(run, err);
}

bool run_epoch(struct run *run, long epoch, struct error *err)
{
    double paused_s = 0;
    struct order order = order_make(run->spec.order, run->spec.seed, (uint32_t)epoch,
                                    (uint32_t)run->work.train_rows);
    metrics_begin_epoch(&run->metrics, epoch);
    double start = clock_seconds() - checkpoints_resume_epoch(run);
    progress_phase(run, PHASE_TRAIN);
    order_fill(&order, run->work.order);
    if (!take_steps(run, start, &paused_s, err))
        return false;
    metrics_end_epoch(&run->metrics, clock_seconds() - start - paused_s);
    return true;
}

/* Every test row is run exactly once, each device taking its share. */
bool run_evaluate(struct run *run, bool *done, struct error *err)
{
    double loss_sum = 0, begin = clock_seconds();
    long correct = 0;
    int most = 0;
    for (int i = 0; i < run->ranks.count; i++) {
        int rows = run->ranks.rank[i].eval[PASS_FULL].rows;
        most = rows > most ? rows : most;
    }
    *done = false;
    atomic_store(&run->ranks.cut, run_control_stop_asked(run->live.control) >= RUN_STOP_STEP);
    if (atomic_load(&run->ranks.cut))
        return true;
    progress_phase(run, PHASE_EVAL);
    if (!run_command(run, rank_evaluate, most * net_forward_flops(run->work.net), err))
        return false;
    if (atomic_load(&run->ranks.cut))
        return true;
    for (int i = 0; i < run->ranks.count; i++) {
        loss_sum += run->ranks.rank[i].result.loss_sum;
        correct += run->ranks.rank[i].result.correct;
    }
    if (!isfinite(loss_sum))
        return error_set(err, ERROR_FAILED,
                         "the test loss is not finite after step %ld: training has diverged; try a "
                         "smaller lr than %g, or a larger batch",
                         run->metrics.steps, run->live.lr);
    metrics_evaluated(&run->metrics, loss_sum / (double)run->work.test_rows,
                      (double)correct / (double)run->work.test_rows, clock_seconds() - begin);
    *done = true;
    return true;
}
