/* SPDX-License-Identifier: MIT */
#include "engine/train/run/load_balance.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "engine/train/run/command.h"
#include "engine/train/run/state.h"
#include "engine/train/step/rank.h"

void load_balance_begin(struct load_balance *lb, const struct ranks *ranks)
{
    long shares[SPEC_MAX_DEVICES];
    /* A guess, until a change has been seen. Not by the first plan, which also times algorithms. */
    for (int i = 0; i < ranks->count; i++) {
        lb->change_s = fmax(lb->change_s, 4 * ranks->rank[i].plan_s);
        shares[i] = ranks->rank[i].train[PASS_FULL].rows;
    }
    balance_begin(&lb->balance, shares, ranks->count);
}

static bool change(struct run *run, struct error *err)
{
    struct load_balance *lb = &run->load_balance;
    const struct workload *work = &run->work;
    struct row_shares shares;
    double begin = clock_seconds();
    if (!share_rows_like(&run->spec, lb->advice.shares, work->train_rows, work->evaluated->rows,
                         &shares, err))
        return false;
    ranks_take_shares(&run->ranks, &shares);
    memset(run->steps.passes, 0, sizeof run->steps.passes);
    lb->advised = false;
    if (!run_command(run, run->ranks.strategy->change_shares, 0, err))
        return false;
    double seconds = clock_seconds() - begin;
    if (!meet_share(run, &seconds, sizeof seconds, err))
        return false;
    /* Going back needs no new plans, so it says nothing about what those cost. */
    if (!lb->advice.back)
        lb->change_s = seconds;
    balance_change(&lb->balance, &lb->advice);
    return report_shares(run, &lb->advice, seconds, err);
}

bool load_balance_step(struct run *run, const struct step *step, struct error *err)
{
    struct load_balance *lb = &run->load_balance;
    double seconds[SPEC_MAX_DEVICES];
    /* Short batches are few, and their rows take their own time. */
    if (run->spec.split == SPLIT_AUTO && step->size == PASS_FULL) {
        for (int i = 0; i < run->ranks.count; i++)
            seconds[i] = run->ranks.rank[i].parts[step->number % PASSES_QUEUED].times.pass_s;
        balance_measure(&lb->balance, seconds);
        const bool last = run->metrics.steps + run->steps.pending == run->live.total_steps;
        lb->advised =
            lb->advised || (!last && balance_propose(&lb->balance, lb->change_s, &lb->advice));
    }
    /* Steps that are queued have the old shares; steps_give takes them first. */
    return !lb->advised || run->steps.pending > 0 || change(run, err);
}
