/* SPDX-License-Identifier: MIT */
#include "engine/train/step/rank.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "engine/train/step/plans.h"
#include "engine/train/step/values.h"
#include "engine/train/sync/transport.h"

/* For which a link is waited for beyond its limit. */
static const double LINK_S = 1;

void rank_show(struct rank *rank, enum activity activity)
{
    atomic_store(&rank->activity, activity);
}

void rank_show_busy(struct rank *rank)
{
    const int rows = rank->train[rank->ranks->step.size].rows;
    rank_show(rank, rows > 0 ? ACTIVITY_TRAIN : ACTIVITY_IDLE);
}

void rank_progress(struct rank *rank)
{
    atomic_fetch_add(&rank->ranks->signs, 1);
}

struct batch rank_batch(const struct rank *rank, long before, long rows)
{
    const struct ranks *ranks = rank->ranks;
    const struct step *step = &ranks->step;
    return (struct batch){.data = &ranks->work->data.train,
                          .index = ranks->work->order + step->begin + before,
                          .rows = (int)rows,
                          .global_rows = step->rows,
                          .seed = ranks->spec->seed,
                          .epoch = step->epoch,
                          .augment = ranks->spec->augment,
                          .unprofiled = step->unprofiled};
}

/* Is this the rank whose failure aborted the others? */
static bool is_culprit(const struct rank *rank)
{
    struct error reason = ERROR_INIT;
    int culprit;
    return barrier_abort_reason(rank->ranks->barrier, &culprit, &reason) &&
           culprit == rank_here(rank);
}

/*
 * Has another host failed? Then *err says why, which is no fault of this one's ranks. Collectives
 * hear at once that a process is gone; the link, which has its limit for that, knows whose it was.
 */
static bool others_failed(const struct rank *rank, struct error *err)
{
    const struct timespec rest = {.tv_nsec = 10000000};
    const struct ranks *ranks = rank->ranks;
    const struct host_link *link = ranks->link;
    const double end = clock_seconds() + ranks->spec->host_limit + LINK_S;
    if (!link)
        return false;
    bool failed = !link->check(link->context, err);
    atomic_store(&rank->group->ends[rank->group_number].waits, true);
    while (!failed && err->kind == ERROR_LOST && clock_seconds() < end &&
           !barrier_is_aborted(ranks->barrier)) {
        nanosleep(&rest, NULL);
        failed = !link->check(link->context, err);
    }
    atomic_store(&rank->group->ends[rank->group_number].waits, false);
    return failed;
}

void rank_conclude(void *context, int index, bool ok, struct error *err)
{
    struct rank *rank = &((struct ranks *)context)->rank[index];
    if (!ok) {
        const bool own = !others_failed(rank, err);
        if (own && !strstr(err->text, rank->name))
            error_prefix(err, "%s", rank->name);
        barrier_abort(rank->ranks->barrier, own ? rank_here(rank) : -1, err);
        rank_show(rank, is_culprit(rank) ? ACTIVITY_FAILED : ACTIVITY_IDLE);
        if (rank->device && rank->backend->rest)
            (void)rank->backend->rest(rank->device);
        sync_break_off(rank->group, rank->group_number);
    }
    rank_progress(rank);
}

static bool swap_average(struct rank *rank, struct error *err)
{
    const int average = optimizer_average(rank->ranks->spec);
    return average < 0 || average >= rank->replica->states ||
           rank->backend->swap(rank->device, rank->replica, average, err);
}

bool rank_swap_average(void *context, int index, struct error *err)
{
    return swap_average(&((struct ranks *)context)->rank[index], err);
}

/* What is kept besides the weights: from a checkpoint, or an average, that begins as they are. */
static bool import_states(struct rank *rank, struct error *err)
{
    const struct ranks *ranks = rank->ranks;
    const size_t count = ranks->work->net->value_count;
    const int average = optimizer_average(ranks->spec);
    for (int i = 0; i < rank->replica->states; i++) {
        const float *values = ranks->resumed ? ranks->resumed + (size_t)i * count
                              : i == average ? ranks->work->weights.values
                                             : NULL;
        if (values && !values_import(rank, (enum replica_arena)(ARENA_STATE + i), values, err))
            return false;
    }
    /* A checkpoint's weights are the average. */
    return !ranks->resumed || swap_average(rank, err);
}

bool rank_open(struct rank *rank, struct error *err)
{
    rank->facts.type = rank->options.type;
    return rank->backend->open(&rank->options, &rank->device, err) &&
           (!rank->backend->facts || rank->backend->facts(rank->device, &rank->facts, err));
}

bool rank_replicate(struct rank *rank, const struct net_stage *stage, struct error *err)
{
    const struct ranks *ranks = rank->ranks;
    struct replica_request request = optimizer_request(ranks->spec, rank->index);
    const struct net *net = rank->slice ? rank->slice->net : ranks->work->net;
    request.stage = stage;
    if (!rank->backend->replica_create(rank->device, net, &request, &rank->replica, err))
        return false;
    if (rank->replica->type != TYPE_DEFAULT)
        rank->facts.type = rank->replica->type;
    return true;
}

static bool import_weights(struct rank *rank, struct error *err)
{
    const float *values = rank->ranks->work->weights.values;
    return values_import(rank, ARENA_PARAMS, values, err) &&
           values_import(rank, ARENA_STATISTICS, values, err);
}

bool rank_load(struct rank *rank, struct error *err)
{
    return import_weights(rank, err) && import_states(rank, err);
}

static bool prepare(struct rank *rank, struct error *err)
{
    return rank_open(rank, err) && rank_replicate(rank, NULL, err) && plans_get(rank, err) &&
           rank_load(rank, err);
}

bool rank_prepare(void *context, int index, struct error *err)
{
    struct rank *rank = &((struct ranks *)context)->rank[index];
    rank_show(rank, ACTIVITY_PREPARE);
    bool ok = prepare(rank, err);
    if (ok)
        rank_show(rank, ACTIVITY_IDLE);
    return ok;
}

bool rank_change_shares(void *context, int index, struct error *err)
{
    struct rank *rank = &((struct ranks *)context)->rank[index];
    enum activity before = (enum activity)atomic_load(&rank->activity);
    rank_show(rank, ACTIVITY_PREPARE);
    bool ok = plans_get(rank, err);
    if (ok)
        rank_show(rank, before);
    return ok;
}

bool rank_join(void *context, int index, struct error *err)
{
    struct ranks *ranks = context;
    struct error refusal = ERROR_INIT;
    (void)err;
    /* Not the end of the run: there may be another transport, which the owner tries. */
    if (!sync_join(ranks->rank[index].group, ranks->rank[index].group_number, &refusal)) {
        if (!strstr(refusal.text, ranks->names[index]))
            error_prefix(&refusal, "%s", ranks->names[index]);
        ranks->rank[index].refusal = refusal;
    }
    return true;
}

bool rank_leave(void *context, int index, struct error *err)
{
    const struct rank *rank = &((struct ranks *)context)->rank[index];
    (void)err;
    sync_leave(rank->group, rank->group_number);
    return true;
}

bool rank_import(void *context, int index, struct error *err)
{
    return import_weights(&((struct ranks *)context)->rank[index], err);
}

/* Does the rank have parameters that others do not? */
static bool exports(const struct ranks *ranks, int index)
{
    return ranks_replicate(ranks) ? index == 0 : ranks->rank[index].pipeline_index == 0;
}

bool rank_export(void *context, int index, struct error *err)
{
    struct ranks *ranks = context;
    struct rank *rank = &ranks->rank[index];
    float *values = ranks->work->weights.values;
    bool ok = ranks->statistics_from == 0 ||
              sync_even_out(rank->group, rank->group_number, ranks->statistics_from, err);
    if (ok && exports(ranks, index))
        ok = values_export(rank, ARENA_PARAMS, values, err) &&
             values_export(rank, ARENA_STATISTICS, values, err);
    return ok;
}

bool rank_export_state(void *context, int index, struct error *err)
{
    struct ranks *ranks = context;
    struct rank *rank = &ranks->rank[index];
    const size_t count = ranks->work->net->value_count;
    bool ok = true;
    for (int i = 0; ok && exports(ranks, index) && i < rank->replica->states; i++)
        ok = values_export(rank, (enum replica_arena)(ARENA_STATE + i),
                           ranks->exported + (size_t)i * count, err);
    return ok;
}

void rank_add_times(struct rank *rank, const struct sync_times *times)
{
    rank->times.reduce_s += times->moving_s;
    rank->times.barrier_s += times->wait_s;
    rank->times.wait_s += times->wait_s;
}

bool rank_sum_gradients(struct rank *rank, struct error *err)
{
    struct sync_times times = {0, 0};
    rank_show(rank, ACTIVITY_WAIT);
    bool ok = sync_before(rank->group, rank->group_number, &times, err) &&
              sync_after(rank->group, rank->group_number, &times, err);
    rank_show(rank, ACTIVITY_TRAIN);
    rank_add_times(rank, &times);
    return ok;
}

void rank_shut(struct rank *rank)
{
    const struct backend *backend = rank->backend;
    if (rank->replica)
        backend->replica_destroy(rank->device, rank->replica);
    if (rank->device)
        backend->close(rank->device);
    rank->replica = NULL;
    rank->device = NULL;
}

void rank_close(void *context, int index)
{
    struct ranks *ranks = context;
    struct rank *rank = &ranks->rank[index];
    sync_leave(rank->group, rank->group_number);
    plans_release(rank);
    rank_shut(rank);
}
