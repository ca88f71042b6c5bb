/* SPDX-License-Identifier: MIT */
#include "engine/train/run/run_state.h"

#include "base/clock.h"

/*
 * The plans of one device, on its thread. A run needs a few of them, by rows; `split auto` needs
 * others with every change of the shares, and may come back to shares that it had before. So the
 * last ones are kept, and the one that has not been used for the longest time makes way.
 */

static bool needed(const struct member *member, const struct plan *plan)
{
    bool found = false;
    for (int size = 0; size < PASS_SIZES; size++)
        found = found || member->train[size].plan == plan || member->eval[size].plan == plan;
    return found;
}

static void drop(struct member *member, struct kept_plan *kept)
{
    member->backend->plan_destroy(member->device, kept->plan);
    *kept = (struct kept_plan){.plan = NULL};
}

/* An empty place; there always is one that is not needed (PLANS_KEPT). */
static struct kept_plan *make_place(struct member *member, struct error *err)
{
    struct kept_plan *oldest = NULL;
    for (int i = 0; i < PLANS_KEPT; i++) {
        struct kept_plan *kept = &member->kept[i];
        if (!kept->plan)
            return kept;
        if (!needed(member, kept->plan) && (!oldest || kept->used < oldest->used))
            oldest = kept;
    }
    if (!member_profile_plan(member, oldest->plan, err))
        return NULL;
    drop(member, oldest);
    return oldest;
}

static struct kept_plan *find(struct member *member, enum plan_mode mode, int rows)
{
    for (int i = 0; i < PLANS_KEPT; i++) {
        struct kept_plan *kept = &member->kept[i];
        if (kept->plan && kept->mode == mode && kept->rows == rows)
            return kept;
    }
    return NULL;
}

static struct gradient_buckets pieces(struct member *member)
{
    size_t count = member->run->replicas[member->index]->count;
    member->piece_count = sync_pieces(count, member->piece_ends);
    return (struct gradient_buckets){member->piece_count, member->piece_ends, member_piece_ready,
                                     member};
}

static bool create(struct member *member, enum plan_mode mode, int rows, struct kept_plan *kept,
                   struct error *err)
{
    struct run *run = member->run;
    struct plan_request request = {.mode = mode, .rows = rows};
    request.profile = run->profile && mode == PLAN_TRAIN && member->backend->plan_profile;
    struct plan_memory memory = {0};
    struct plan *plan = NULL;
    double begin = clock_seconds();
    if (mode == PLAN_TRAIN && run->member_count > 1 && run->spec.sync_bn) {
        request.sync_bn = true;
        request.exchange = (struct device_exchange){
            .sum = member_exchange_sum, .queue = member_exchange_queue, .context = member};
    }
    if (mode == PLAN_TRAIN && run->member_count > 1 && member->backend->links)
        request.buckets = pieces(member);
    if (!member->backend->plan_create(member->device, run->replicas[member->index], &request, &plan,
                                      err))
        return false;
    member->plan_s = clock_seconds() - begin;
    atomic_fetch_add(&run->signs, 1);
    member->backend->plan_memory(plan, &memory);
    *kept = (struct kept_plan){.plan = plan, .mode = mode, .rows = rows};
    /* The plans of a device share its workspace, so the largest one counts. */
    uint64_t bytes = memory.activations + memory.scratch + memory.input;
    if (bytes > member->plan_bytes)
        member->plan_bytes = bytes;
    return true;
}

static bool get(struct member *member, enum plan_mode mode, struct pass *pass, struct error *err)
{
    struct kept_plan *kept = find(member, mode, pass->rows);
    if (!kept) {
        kept = make_place(member, err);
        if (!kept || !create(member, mode, pass->rows, kept, err))
            return false;
    }
    kept->used = ++member->plans_used;
    pass->plan = kept->plan;
    pass->warm = false;
    return true;
}

bool plans_get(struct member *member, struct error *err)
{
    const struct replica *replica = member->run->replicas[member->index];
    struct pass *train = member->train, *eval = member->eval;
    /* From here on the plans of the old shares are free to go. */
    for (int size = 0; size < PASS_SIZES; size++)
        train[size].plan = eval[size].plan = NULL;
    if (!get(member, PLAN_TRAIN, &train[PASS_FULL], err) ||
        (member->trains_short && !get(member, PLAN_TRAIN, &train[PASS_SHORT], err)))
        return false;
    for (int size = 0; size < PASS_SIZES; size++)
        if (eval[size].rows > 0 && !get(member, PLAN_EVAL, &eval[size], err))
            return false;
    atomic_store(&member->memory_bytes,
                 member->plan_bytes + (3 * replica->count + replica->state_count) * sizeof(float));
    return true;
}

void plans_release(struct member *member)
{
    for (int i = 0; i < PLANS_KEPT; i++)
        if (member->kept[i].plan)
            drop(member, &member->kept[i]);
}
