/* SPDX-License-Identifier: MIT */
#include "engine/train/step/own_update.h"

#include <math.h>

#include "base/clock.h"
#include "engine/train/step/rank.h"

/* The norm of the gradients of all ranks, which they have to wait for. */
static bool join_norms(struct rank *rank, struct optimizer_step *step, struct error *err)
{
    double squares, waited = 0;
    if (!(step->clip > 0) || rank->ranks->count == 1)
        return true;
    /* What is replicated counts once. */
    const struct replica *replica = rank->replica;
    const size_t own = rank->pipeline_index > 0 ? 0
                       : rank->index > 0        ? replica->count - replica->replicated
                                                : replica->count;
    if (!rank->backend->gradient_squares(rank->device, replica, 0, own, &squares, err))
        return false;
    rank_show(rank, ACTIVITY_WAIT);
    if (!barrier_sum(rank->ranks->barrier, rank_here(rank), &squares, 1, &waited, err))
        return false;
    rank->times.wait_s += waited;
    rank->times.barrier_s += waited;
    rank_show(rank, ACTIVITY_TRAIN);
    step->norm = (float)sqrt(squares);
    return true;
}

bool own_update(struct rank *rank, struct error *err)
{
    struct optimizer_step step = rank->ranks->step.update;
    struct replica *replica = rank->replica;
    if (!join_norms(rank, &step, err))
        return false;
    double begin = clock_seconds();
    bool ok = rank->backend->update(rank->device, replica, 0, replica->count, &step, err);
    rank->times.update_s = clock_seconds() - begin;
    return ok;
}
