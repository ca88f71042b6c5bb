/* SPDX-License-Identifier: MIT */
#include "engine/train/run/run_state.h"

#include <math.h>

#include "base/clock.h"

/* Every test row is run exactly once, each device taking its share. */
bool run_evaluate(struct run *run, bool *done, struct error *err)
{
    double loss_sum = 0, begin = clock_seconds();
    long correct = 0;
    int most = 0;
    for (int i = 0; i < run->rank_count; i++) {
        int rows = run->ranks[i].eval[PASS_FULL].rows;
        most = rows > most ? rows : most;
    }
    *done = false;
    atomic_store(&run->cut, run_stop_asked(run) >= RUN_STOP_STEP);
    if (atomic_load(&run->cut))
        return true;
    progress_phase(run, PHASE_EVAL);
    if (!run_command(run, rank_evaluate, most * net_forward_flops(run->net), err))
        return false;
    if (atomic_load(&run->cut))
        return true;
    for (int i = 0; i < run->rank_count; i++) {
        loss_sum += run->ranks[i].result.loss_sum;
        correct += run->ranks[i].result.correct;
    }
    if (!isfinite(loss_sum))
        return error_set(err, ERROR_FAILED,
                         "the test loss is not finite after step %ld: training has diverged; try a "
                         "smaller lr than %g, or a larger batch",
                         run->figures.steps, run->lr);
    figures_evaluated(&run->figures, loss_sum / (double)run->test_rows,
                      (double)correct / (double)run->test_rows, clock_seconds() - begin);
    *done = true;
    return true;
}
