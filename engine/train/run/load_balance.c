/* SPDX-License-Identifier: MIT */
#include "engine/train/run/run_state.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

/*
 * `split auto`: from step to step the devices are measured, and between two steps they may get
 * other shares. Gradients are those of the whole batch however it is divided (logit gradients carry
 * 1/global_rows), so nothing but time depends on it.
 */

void run_begin_load_balance(struct run *run)
{
    long shares[SPEC_MAX_DEVICES];
    /* A guess, until a change has been seen. Not by the first plan, which also times algorithms. */
    for (int i = 0; i < run->rank_count; i++) {
        run->change_s = fmax(run->change_s, 4 * run->ranks[i].plan_s);
        shares[i] = run->ranks[i].train[PASS_FULL].rows;
    }
    balance_begin(&run->balance, shares, run->rank_count);
}

static bool take(struct run *run, struct error *err)
{
    const struct balance_advice *advice = &run->advice;
    struct row_shares shares;
    double begin = clock_seconds();
    if (!share_rows_like(&run->spec, advice->shares, run->train_rows, run->test_rows, &shares, err))
        return false;
    run_take_shares(run, &shares);
    memset(run->ahead.passes, 0, sizeof run->ahead.passes);
    run->advised = false;
    if (!run_command(run, rank_change_shares, 0, err))
        return false;
    double seconds = clock_seconds() - begin;
    /* Going back needs no new plans, so it says nothing about what those cost. */
    if (!advice->back)
        run->change_s = seconds;
    balance_change(&run->balance, advice);
    return report_shares(run, advice, seconds, err);
}

bool run_balance_load(struct run *run, const struct step *step, struct error *err)
{
    double seconds[SPEC_MAX_DEVICES];
    /* Short batches are few, and their rows take their own time. */
    if (run->spec.split == SPLIT_AUTO && step->size == PASS_FULL) {
        for (int i = 0; i < run->rank_count; i++)
            seconds[i] = run->ranks[i].parts[step->number % PASSES_QUEUED].times.pass_s;
        balance_measure(&run->balance, seconds);
        run->advised =
            run->advised || (run->figures.steps + run->ahead.pending != run->total_steps &&
                             balance_propose(&run->balance, run->change_s, &run->advice));
    }
    /* Steps that are queued have the old shares; run_step has them taken. */
    return !run->advised || run->ahead.pending > 0 || take(run, err);
}
