/* SPDX-License-Identifier: MIT */
#include "engine/server/history/backlog.h"

#include <string.h>

#include "engine/server/record/thinning.h"

bool backlog_is_empty(const struct backlog *backlog)
{
    return !backlog->work.first && !backlog->states.first;
}

/* How much of what is bounded it takes; 0: it has its place. */
static long weight_of(const struct store_work *work)
{
    switch (work->kind) {
    case WORK_POINT:
        return 1;
    case WORK_POINTS:
        return (long)json_array_size(work->json);
    case WORK_EVENT:
        return strcmp(work->name, "run") != 0 && strcmp(work->name, "end") != 0;
    case WORK_RUN:
    case WORK_EPOCH:
    case WORK_REWIND:
    case WORK_TAGS:
    case WORK_DELETE:
        break;
    }
    return 0;
}

/* The epochs from `at` on that follow each other in one run: *end is what comes after them. */
static struct thinning thinning_of(struct store_work *at, struct store_work **end)
{
    struct thinning thinning = THINNING_INIT;
    long run = at->run;
    for (; at; at = at->next) {
        if (at->run == run && at->kind == WORK_REWIND)
            break;
        if (at->kind != WORK_EPOCH)
            continue;
        if (at->run != run)
            break;
        thinning_add(&thinning, at->epoch, at->score);
    }
    *end = at;
    return thinning;
}

static void thin_by(struct backlog *backlog, long stride)
{
    struct store_work_list all = backlog->work;
    struct store_work *end = NULL;
    struct thinning thinning = THINNING_INIT;
    backlog->work = (struct store_work_list){.first = NULL};
    while (all.first) {
        if (all.first == end)
            thinning.any = false;
        if (!thinning.any && all.first->kind == WORK_EPOCH)
            thinning = thinning_of(all.first, &end);
        struct store_work *work = store_work_take(&all);
        if (work->kind != WORK_EPOCH || thinning_keeps(&thinning, work->epoch, stride)) {
            store_work_add(&backlog->work, work);
            continue;
        }
        backlog->epochs--;
        backlog->bytes -= strlen(work->text);
        backlog->thinned++;
        store_work_free(work);
    }
}

static bool has_too_many(const struct backlog *backlog, int part)
{
    return backlog->epochs > BACKLOG_EPOCHS / part || backlog->bytes > BACKLOG_BYTES / (size_t)part;
}

/* Down to half of what may wait, so that it is done seldom. */
static void thin(struct backlog *backlog)
{
    if (!has_too_many(backlog, 1))
        return;
    if (backlog->stride == 0)
        backlog->stride = 1;
    if (backlog->stride > 1)
        thin_by(backlog, backlog->stride);
    while (has_too_many(backlog, 2) && backlog->stride < THINNING_STRIDE_MOST) {
        backlog->stride *= 2;
        thin_by(backlog, backlog->stride);
    }
}

static void add_epoch(struct backlog *backlog, struct store_work *work)
{
    /* Of very many runs there may be too much although each has only its first, last and best. */
    if (backlog->stride >= THINNING_STRIDE_MOST && has_too_many(backlog, 1)) {
        backlog->lost++;
        store_work_free(work);
        return;
    }
    backlog->epochs++;
    backlog->bytes += strlen(work->text);
    store_work_add(&backlog->work, work);
    thin(backlog);
}

void backlog_add(struct backlog *backlog, struct store_work *work)
{
    long weight = weight_of(work);
    if (work->kind == WORK_RUN) {
        store_work_put_state(&backlog->states, work);
    } else if (work->kind == WORK_EPOCH) {
        add_epoch(backlog, work);
    } else if (weight > 0 && backlog->others + weight > BACKLOG_OTHERS) {
        backlog->lost++;
        store_work_free(work);
    } else {
        backlog->others += weight;
        store_work_add(&backlog->work, work);
    }
}

void backlog_return(struct backlog *backlog, struct backlog *unwritten)
{
    while (backlog->states.first)
        store_work_put_state(&unwritten->states, store_work_take(&backlog->states));
    store_work_join(&unwritten->work, &backlog->work);
    unwritten->epochs += backlog->epochs;
    unwritten->others += backlog->others;
    unwritten->bytes += backlog->bytes;
    unwritten->thinned += backlog->thinned;
    unwritten->lost += backlog->lost;
    if (backlog->stride > unwritten->stride)
        unwritten->stride = backlog->stride;
    *backlog = *unwritten;
    *unwritten = (struct backlog){.stride = 0};
    thin(backlog);
}

static bool is_wanted(const struct store_work *work, enum backlog_part part)
{
    bool end = work->kind == WORK_EVENT && strcmp(work->name, "end") == 0;
    return part == BACKLOG_ALL || work->kind == WORK_RUN || work->kind == WORK_DELETE ||
           (part == BACKLOG_ENDS && end);
}

static bool write_list(const struct store_work_list *list, enum backlog_part part,
                       struct store *store, struct error *err)
{
    for (const struct store_work *work = list->first; work; work = work->next)
        if (is_wanted(work, part) && !store_work_do(store, work, err))
            return false;
    return true;
}

long backlog_ends(const struct backlog *backlog)
{
    long ends = 0;
    for (const struct store_work *work = backlog->work.first; work; work = work->next)
        ends += is_wanted(work, BACKLOG_ENDS) && work->kind != WORK_RUN;
    return ends;
}

bool backlog_write(const struct backlog *backlog, enum backlog_part part, struct store *store,
                   struct error *err)
{
    if (!store_begin(store, err))
        return false;
    if (write_list(&backlog->states, part, store, err) &&
        write_list(&backlog->work, part, store, err))
        return store_commit(store, err);
    store_rollback(store);
    return false;
}

void backlog_clear(struct backlog *backlog)
{
    store_work_clear(&backlog->states);
    store_work_clear(&backlog->work);
    *backlog = (struct backlog){.stride = 0};
}
