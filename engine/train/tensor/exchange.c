/* SPDX-License-Identifier: MIT */
#include "engine/train/tensor/exchange.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/train/split/shares.h"
#include "engine/train/sync/barrier.h"
#include "engine/train/sync/collective.h"

/* Scattered over small pages, large values take longer to read and write. */
#define HUGE_PAGE ((size_t)2 << 20)

/* What an operation makes, all channels. */
struct shared {
    void *data; /* NULL: nobody has asked yet */
    size_t row; /* bytes */
};

/* What the plans of a rank are given. */
struct rank_end {
    struct exchange *exchange;
    struct rank *rank;
    bool first; /* exchange_begin_pass */
};

struct exchange {
    struct ranks *ranks;
    size_t rows; /* of the largest pass */
    pthread_mutex_t lock;
    struct shared *values; /* per operation of the whole network */
    uint64_t bytes;
    struct rank_end ends[SPEC_MAX_DEVICES];
    const void *offered[SPEC_MAX_DEVICES];
};

static size_t alignment_of(size_t bytes)
{
    return bytes >= HUGE_PAGE ? HUGE_PAGE : 4096;
}

size_t exchange_value_bytes(size_t rows, size_t row)
{
    const size_t bytes = rows * row, align = alignment_of(bytes);
    return (bytes + align - 1) / align * align;
}

bool exchange_create(struct ranks *ranks, struct exchange **out, struct error *err)
{
    struct exchange *exchange = calloc(1, sizeof *exchange);
    if (!exchange)
        return error_memory(err, "values of slices");
    exchange->ranks = ranks;
    exchange->rows = (size_t)share_most_rows(ranks->spec, ranks->work->train_rows);
    exchange->values = calloc((size_t)ranks->work->net->op_count, sizeof *exchange->values);
    const int status = pthread_mutex_init(&exchange->lock, NULL);
    if (exchange->values && status == 0) {
        *out = exchange;
        return true;
    }
    if (status == 0)
        pthread_mutex_destroy(&exchange->lock);
    free(exchange->values);
    free(exchange);
    return error_memory(err, "values of slices");
}

void exchange_destroy(struct exchange *exchange)
{
    if (!exchange)
        return;
    for (int i = 0; i < exchange->ranks->work->net->op_count; i++)
        free(exchange->values[i].data);
    free(exchange->values);
    pthread_mutex_destroy(&exchange->lock);
    free(exchange);
}

/* Zeroed, as channels that fill the last block have to be. */
static bool make_values(struct exchange *exchange, struct shared *values, size_t row,
                        struct error *err)
{
    const size_t size = exchange_value_bytes(exchange->rows, row);
    values->data = aligned_alloc(alignment_of(size), size);
    if (!values->data)
        return error_memory(err, "values of slices; use a smaller batch");
    madvise(values->data, size, MADV_HUGEPAGE); /* only advice: failure costs speed */
    memset(values->data, 0, size);
    values->row = row;
    exchange->bytes += size;
    return true;
}

static void *give_values(void *context, int origin, size_t row, struct error *err)
{
    struct exchange *exchange = ((struct rank_end *)context)->exchange;
    struct shared *values = &exchange->values[origin];
    pthread_mutex_lock(&exchange->lock);
    bool ok = values->data || make_values(exchange, values, row, err);
    if (ok && values->row != row)
        ok = error_set(err, ERROR_FAILED, "rows of %zu and %zu bytes in the slices' layouts",
                       values->row, row);
    pthread_mutex_unlock(&exchange->lock);
    return ok ? values->data : NULL;
}

static bool wait_for_all(void *context, const void *own, const void *const **all, struct error *err)
{
    const struct rank_end *end = context;
    struct rank *rank = end->rank;
    double waited = 0;
    if (own)
        end->exchange->offered[rank->index] = own;
    bool ok = barrier_wait(rank->ranks->barrier, rank->index, &waited, err);
    rank->times.wait_s += waited;
    if (all)
        *all = end->exchange->offered;
    return ok;
}

static bool has_collective(void *context)
{
    return sync_gathers(((const struct rank_end *)context)->rank->group);
}

/* A pass that runs for the first time loads code and allocates, which may wait for GPUs that are
 * idle: before any of them waits for others all must have done so. */
static bool meet_if_first(void *context, struct error *err)
{
    const struct rank_end *end = context;
    return !end->first || wait_for_all(context, NULL, NULL, err);
}

static bool gather(void *context, void *parts, size_t bytes, struct error *err)
{
    const struct rank_end *end = context;
    return meet_if_first(context, err) &&
           sync_queue_gather(end->rank->group, end->rank->group_number, parts, bytes, err);
}

static bool scatter(void *context, void *parts, size_t count, enum number_type type,
                    struct error *err)
{
    const struct rank_end *end = context;
    return meet_if_first(context, err) &&
           sync_queue_scatter(end->rank->group, end->rank->group_number, parts, count, type, err);
}

struct device_exchange exchange_of(struct exchange *exchange, struct rank *rank)
{
    struct rank_end *end = &exchange->ends[rank->index];
    *end = (struct rank_end){.exchange = exchange, .rank = rank};
    return (struct device_exchange){.count = exchange->ranks->count,
                                    .index = rank->index,
                                    .values = give_values,
                                    .wait = wait_for_all,
                                    .collective = has_collective,
                                    .gather = gather,
                                    .scatter = scatter,
                                    .context = end};
}

void exchange_begin_pass(struct exchange *exchange, const struct rank *rank, bool first)
{
    exchange->ends[rank->index].first = first;
}

uint64_t exchange_bytes(struct exchange *exchange)
{
    pthread_mutex_lock(&exchange->lock);
    const uint64_t bytes = exchange->bytes;
    pthread_mutex_unlock(&exchange->lock);
    return bytes;
}
