/* SPDX-License-Identifier: MIT */
#include "engine/train/step/plans.h"

#include "base/clock.h"
#include "engine/train/step/rank.h"
#include "engine/train/sync/across.h"
#include "engine/train/sync/collective.h"

static bool needed(const struct rank *rank, const struct plan *plan)
{
    bool found = rank->half.plan == plan;
    for (int size = 0; size < PASS_SIZES; size++)
        found = found || rank->train[size].plan == plan || rank->eval[size].plan == plan ||
                rank->micro[size][0].plan == plan || rank->micro[size][1].plan == plan;
    return found;
}

static void drop(struct rank *rank, struct cached_plan *cached)
{
    rank->backend->plan_destroy(rank->device, cached->plan);
    *cached = (struct cached_plan){.plan = NULL};
}

/* What the plan has measured since. */
static bool take_times(struct rank *rank, struct plan *plan, struct error *err)
{
    struct profile *profile = rank->ranks->profile;
    int count;
    if (!profile || profile->devices[rank->index].passes_only)
        return true;
    struct plan_time *times = rank->backend->plan_profile(plan, &count);
    return !times || profile_take(&profile->devices[rank->index], times, count, err);
}

bool plans_take_times(struct rank *rank, struct error *err)
{
    for (int i = 0; i < PLANS_CACHED; i++)
        if (rank->cached[i].plan && !take_times(rank, rank->cached[i].plan, err))
            return false;
    return true;
}

/* An empty entry; there always is one that is not needed (PLANS_CACHED). */
static struct cached_plan *free_entry(struct rank *rank, struct error *err)
{
    struct cached_plan *oldest = NULL;
    for (int i = 0; i < PLANS_CACHED; i++) {
        struct cached_plan *cached = &rank->cached[i];
        if (!cached->plan)
            return cached;
        if (!needed(rank, cached->plan) && (!oldest || cached->used < oldest->used))
            oldest = cached;
    }
    if (!take_times(rank, oldest->plan, err))
        return NULL;
    drop(rank, oldest);
    return oldest;
}

static struct cached_plan *find(struct rank *rank, enum plan_mode mode,
                                const struct rank_pass *pass)
{
    for (int i = 0; i < PLANS_CACHED; i++) {
        struct cached_plan *cached = &rank->cached[i];
        if (cached->plan && cached->mode == mode && cached->rows == pass->rows &&
            cached->before == pass->before && cached->global_rows == pass->global_rows &&
            cached->finish_rows == pass->finish_rows)
            return cached;
    }
    return NULL;
}

/* struct device_allreduce: BatchNorm sums over all devices, in the middle of a pass. */
static bool allreduce(void *context, double *values, size_t count, struct error *err)
{
    struct rank *rank = context;
    double (*clock)(void) = rank->ranks->clock;
    double begin = clock(), waited = 0;
    rank_show(rank, ACTIVITY_WAIT);
    bool ok = sync_sum(rank->group, rank->group_number, values, count, &waited, err);
    rank_show_busy(rank);
    rank->times.wait_s += waited;
    rank->times.sync_bn_s += clock() - begin - waited;
    return ok;
}

static bool queue_allreduce(void *context, const double *own, double *all, size_t count,
                            bool *queued, struct error *err)
{
    struct rank *rank = context;
    return sync_queue_allreduce(rank->group, rank->group_number, own, all, count, queued, err);
}

/* struct gradient_buckets */
static bool bucket_ready(void *context, int bucket, struct error *err)
{
    struct rank *rank = context;
    return sync_bucket_ready(rank->group, rank->group_number, bucket, err);
}

static struct gradient_buckets buckets(struct rank *rank)
{
    size_t count = rank->replica->count;
    rank->bucket_count = sync_buckets(count, rank->bucket_ends);
    return (struct gradient_buckets){rank->bucket_count, rank->bucket_ends, bucket_ready, rank};
}

static bool create(struct rank *rank, enum plan_mode mode, const struct rank_pass *pass,
                   struct cached_plan *cached, struct error *err)
{
    struct ranks *ranks = rank->ranks;
    const bool divides = ranks->count > 1 && strategy_divides_rows(ranks->spec->strategy);
    struct plan_request request = {.mode = mode,
                                   .rows = pass->rows,
                                   .rows_before = pass->before,
                                   .global_rows = pass->global_rows,
                                   .finish_rows = pass->finish_rows,
                                   .label_smoothing = ranks->spec->label_smoothing};
    request.slots = mode == PLAN_TRAIN ? rank->slots : 0;
    request.exchange = rank->exchange;
    request.profile = ranks->profile && mode == PLAN_TRAIN && rank->backend->plan_profile;
    request.predictions = ranks->predictions && mode == PLAN_EVAL;
    struct plan_memory memory = {0};
    struct plan *plan = NULL;
    double begin = clock_seconds();
    if (mode == PLAN_TRAIN && divides && ranks->spec->sync_bn) {
        request.sync_bn = true;
        request.allreduce =
            (struct device_allreduce){.sum = allreduce, .queue = queue_allreduce, .context = rank};
    }
    if (mode == PLAN_TRAIN && divides && ranks_replicate(ranks) &&
        (rank->backend->collectives || ranks->link))
        request.buckets = buckets(rank);
    if (!rank->backend->plan_create(rank->device, rank->replica, &request, &plan, err))
        return false;
    rank->plan_s = clock_seconds() - begin;
    atomic_fetch_add(&ranks->signs, 1);
    rank->backend->plan_memory(plan, &memory);
    *cached = (struct cached_plan){.plan = plan,
                                   .mode = mode,
                                   .rows = pass->rows,
                                   .before = pass->before,
                                   .global_rows = pass->global_rows,
                                   .finish_rows = pass->finish_rows};
    /* The plans of a device share its workspace, so the largest one counts. */
    uint64_t bytes = memory.activations + memory.scratch + memory.input;
    if (bytes > rank->plan_bytes)
        rank->plan_bytes = bytes;
    if (memory.kept > rank->kept_bytes)
        rank->kept_bytes = memory.kept;
    return true;
}

static bool get(struct rank *rank, enum plan_mode mode, struct rank_pass *pass, struct error *err)
{
    struct cached_plan *cached = find(rank, mode, pass);
    if (!cached) {
        cached = free_entry(rank, err);
        if (!cached || !create(rank, mode, pass, cached, err))
            return false;
    }
    cached->used = ++rank->plans_used;
    pass->plan = cached->plan;
    pass->warm = false;
    return true;
}

void plans_note_memory(struct rank *rank, uint64_t more)
{
    const uint64_t slots = (uint64_t)rank->slots * rank->kept_bytes;
    atomic_store(&rank->memory_bytes,
                 rank->plan_bytes + slots + more + replica_bytes(rank->replica));
}

static bool get_evaluation(struct rank *rank, struct error *err)
{
    for (int size = 0; size < PASS_SIZES; size++)
        if (rank->eval[size].rows + rank->eval[size].global_rows > 0 &&
            !get(rank, PLAN_EVAL, &rank->eval[size], err))
            return false;
    return true;
}

bool plans_get_stage(struct rank *rank, struct error *err)
{
    for (int size = 0; size < PASS_SIZES; size++)
        for (int i = 0; i < 2; i++)
            if (rank->micro[size][i].rows > 0 && !get(rank, PLAN_TRAIN, &rank->micro[size][i], err))
                return false;
    return get_evaluation(rank, err);
}

bool plans_get(struct rank *rank, struct error *err)
{
    struct rank_pass *train = rank->train, *eval = rank->eval;
    /* From here on the plans of the old shares may be dropped. */
    for (int size = 0; size < PASS_SIZES; size++)
        train[size].plan = eval[size].plan = NULL;
    rank->half.plan = NULL;
    if (!get(rank, PLAN_TRAIN, &train[PASS_FULL], err) ||
        (rank->trains_short && !get(rank, PLAN_TRAIN, &train[PASS_SHORT], err)) ||
        (rank->half.rows > 0 && !get(rank, PLAN_TRAIN, &rank->half, err)) ||
        !get_evaluation(rank, err))
        return false;
    plans_note_memory(rank, 0);
    return true;
}

void plans_release(struct rank *rank)
{
    for (int i = 0; i < PLANS_CACHED; i++)
        if (rank->cached[i].plan)
            drop(rank, &rank->cached[i]);
}
