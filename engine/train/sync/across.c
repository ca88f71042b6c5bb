/* SPDX-License-Identifier: MIT */
#include "engine/train/sync/across.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/train/sync/sums.h"
#include "engine/train/sync/sync.h"
#include "engine/train/sync/transport.h"
#include "system/sha256.h"

struct across {
    pthread_mutex_t lock;
    int count;
    size_t ends[SYNC_MAX_BUCKETS];  /* of buckets of what the host sums */
    int reported[SYNC_MAX_BUCKETS]; /* by so many ranks, in this step; under the lock */
    double *sums;                   /* of sync_sum: each host's, a row for each */
    size_t sums_capacity;
};

bool across_create(struct sync_group *group, struct error *err)
{
    struct across *across = calloc(1, sizeof *across);
    if (!across)
        return error_memory(err, "sums over hosts");
    pthread_mutex_init(&across->lock, NULL);
    across->count = sync_buckets(group->count, across->ends);
    group->across = across;
    return true;
}

void across_destroy(struct sync_group *group)
{
    if (!group->across)
        return;
    pthread_mutex_destroy(&group->across->lock);
    free(group->across->sums);
    free(group->across);
    group->across = NULL;
}

/* What tells layouts apart: one set of weights lies otherwise in each. */
struct fingerprint {
    bool alike;
    enum device_kind kind;
    size_t count, statistics;
    unsigned char digest[SHA256_BYTES];
};

static bool digest_parameters(const struct sync_end *end, struct sha256 *sum, unsigned char *digest,
                              struct error *err)
{
    const size_t count = end->replica->count;
    const float *params = end->replica->params;
    float *copy = NULL;
    if (!end->replica->host_accessible) {
        params = copy = malloc((count + 1) * sizeof *copy);
        if (!copy)
            return error_memory(err, "parameters in host memory");
    }
    const bool ok =
        (!copy ||
         end->backend->arena_read(end->device, end->replica, ARENA_PARAMS, 0, count, copy, err)) &&
        sha256_add(sum, params, count * sizeof *params, err) && sha256_end(sum, digest, err);
    free(copy);
    return ok;
}

static bool fingerprint(const struct sync_group *group, struct fingerprint *print,
                        struct error *err)
{
    const struct sync_end *end = &group->ends[0];
    *print =
        (struct fingerprint){.kind = end->backend->kind,
                             .count = end->replica->count,
                             .statistics = end->replica->statistics_count,
                             .alike = end->replica->host_accessible || end->backend->arena_read};
    struct sha256 *sum = sha256_begin(err);
    const bool ok = sum && (!print->alike || digest_parameters(end, sum, print->digest, err));
    sha256_free(sum);
    return ok;
}

bool across_one_layout(const struct sync_group *group, bool mine, bool *alike, struct error *err)
{
    struct host_link *link = group->link;
    struct fingerprint own, *all = calloc((size_t)link->hosts.count, sizeof *all);
    if (!all)
        return error_memory(err, "layouts of hosts");
    bool ok = fingerprint(group, &own, err);
    own.alike = own.alike && mine;
    ok = ok && link->gather(link->context, &own, sizeof own, all, err);
    *alike = ok;
    for (int h = 0; ok && h < link->hosts.count; h++)
        *alike = *alike && all[h].alike && all[h].kind == all[0].kind &&
                 all[h].count == all[0].count && all[h].statistics == all[0].statistics &&
                 memcmp(all[h].digest, all[0].digest, sizeof own.digest) == 0;
    free(all);
    return ok;
}

/* What a host has come to, and why it is no good. */
struct verdict {
    bool ok;
    enum error_kind kind;
    char text[sizeof((struct error *)NULL)->text];
};

bool across_agree(const struct sync_group *group, bool *ok, struct error *why, struct error *err)
{
    struct host_link *link = group->link;
    struct verdict own = {.ok = *ok, .kind = why->kind}, *all;
    if (!link)
        return true;
    all = calloc((size_t)link->hosts.count, sizeof *all);
    if (!all)
        return error_memory(err, "what hosts have come to");
    snprintf(own.text, sizeof own.text, "%s", *ok ? "" : why->text);
    const bool gathered = link->gather(link->context, &own, sizeof own, all, err);
    *ok = gathered;
    for (int h = 0; gathered && h < link->hosts.count; h++) {
        /* Who has only waited for another knows less than that one. */
        if (all[h].ok || (!*ok && (why->kind != ERROR_LOST || all[h].kind == ERROR_LOST)))
            continue;
        *ok = false;
        error_set(why, all[h].kind, "%s", all[h].text);
        if (!strstr(why->text, link->hosts.name[h]))
            error_prefix(why, "%s", link->hosts.name[h]);
    }
    free(all);
    return gathered;
}

/* With the lock held: this host's sums of a bucket, and off they go. */
static bool send(struct sync_group *group, int bucket, struct error *err)
{
    const struct across *across = group->across;
    const size_t begin = bucket > 0 ? across->ends[bucket - 1] : 0, end = across->ends[bucket];
    struct sync_end *first = &group->ends[0];
    float *sum = first->grads;
    for (size_t at = begin; at < end; at += SUM_BLOCK) {
        const size_t count = end - at < SUM_BLOCK ? end - at : SUM_BLOCK;
        first->squares[0] += (double)sum_of_squares(sum + at, count);
        for (int i = 1; i < group->size; i++)
            first->squares[i] += (double)add_gradients(sum + at, group->ends[i].grads + at, count);
    }
    return group->link->sum_begin(group->link->context, sum + begin, end - begin,
                                  group->method == SYNC_ALLREDUCE, err);
}

static bool report(struct sync_group *group, int rank, int bucket, struct error *err)
{
    struct across *across = group->across;
    bool ok = true;
    pthread_mutex_lock(&across->lock);
    if (++across->reported[bucket] == group->size) {
        across->reported[bucket] = 0;
        ok = send(group, bucket, err);
    }
    pthread_mutex_unlock(&across->lock);
    group->ends[rank].buckets = bucket + 1;
    return ok;
}

bool across_bucket_ready(struct sync_group *group, int rank, int bucket, struct error *err)
{
    /* Elsewhere gradients are staged after the pass. */
    return group->transport != SYNC_SHARED || report(group, rank, bucket, err);
}

bool across_broadcast(const struct sync_group *group, int rank, int root, void *data, size_t bytes,
                      struct error *err)
{
    struct sync_end *end = &group->ends[rank];
    struct host_link *link = group->link;
    if (link && rank == 0) {
        atomic_store(&end->waits, true);
        const bool ok = link->broadcast(link->context, root, data, bytes, err);
        atomic_store(&end->waits, false);
        if (!ok)
            return false;
    }
    return sync_barrier(group, rank, err);
}

/* What the hosts' sums of this step become, at the first rank of each. */
static bool receive(struct sync_group *group, int rank, struct error *err)
{
    struct sync_end *end = &group->ends[rank];
    struct host_link *link = group->link;
    atomic_store(&end->waits, true);
    const bool ok = rank != 0 || link->sum_end(link->context, err);
    atomic_store(&end->waits, false);
    if (!ok)
        return false;
    if (group->method == SYNC_REDUCE_BROADCAST)
        return across_broadcast(group, rank, 0, group->ends[0].grads, group->count * sizeof(float),
                                err);
    return sync_barrier(group, rank, err);
}

/* Where all have the sums each rank of all hosts takes a slice of them. */
static double squares_of_sums(const struct sync_group *group, int rank)
{
    const int slices = sync_world_size(group), slice = sync_world_rank(group, rank);
    const float *sums = group->ends[0].grads;
    if (group->method == SYNC_CENTRAL)
        return slice == 0 ? squares_between(sums, 0, group->count) : 0;
    return squares_between(sums, slice_begin(group->count, slice, slices),
                           slice_begin(group->count, slice + 1, slices));
}

/* As on one host (host.c), nothing is read of another rank after its step has ended. */
static bool after(struct sync_group *group, int rank, struct sync_times *times, struct error *err)
{
    struct sync_end *end = &group->ends[rank];
    double begin = clock_seconds();
    if (!sync_stage_grads(group, rank, err))
        return false;
    while (end->buckets < group->across->count)
        if (!report(group, rank, end->buckets, err))
            return false;
    times->moving_s += clock_seconds() - begin;
    if (!sync_wait(group, rank, &times->wait_s, err))
        return false;
    begin = clock_seconds();
    bool ok = receive(group, rank, err);
    if (ok)
        end->sum_squares = squares_of_sums(group, rank);
    if (ok && group->method != SYNC_CENTRAL && rank != 0)
        memcpy(end->grads, group->ends[0].grads, group->count * sizeof(float));
    const bool updates = group->method != SYNC_CENTRAL || (rank == 0 && group->link->index == 0);
    ok = ok && (!updates || sync_unstage_grads(group, rank, err));
    times->moving_s += clock_seconds() - begin;
    return ok;
}

const struct sync_algorithm *sync_across(enum sync_method method)
{
    static const struct sync_algorithm algorithms[] = {
        [SYNC_ALLREDUCE] = {.description = "each host sums its devices' gradients, and all-reduces "
                                           "them with the others by buckets",
                            .after = after},
        [SYNC_REDUCE_BROADCAST] = {.description =
                                       "each host sums its devices' gradients, the first "
                                       "one those of all, and sends them out",
                                   .after = after},
        [SYNC_CENTRAL] = {.description = "parameters sent out from the first host's first device, "
                                         "gradients summed there",
                          .before = sync_fetch_before,
                          .after = after,
                          .one_updates = true},
    };
    return &algorithms[method];
}

/* Each host's sums, added in the order of the hosts. */
static bool sum_hosts(const struct sync_group *group, const double *values, size_t count,
                      struct error *err)
{
    struct across *across = group->across;
    struct host_link *link = group->link;
    const size_t hosts = (size_t)link->hosts.count;
    if (count > across->sums_capacity) {
        double *sums = realloc(across->sums, hosts * count * sizeof *sums);
        if (!sums)
            return error_memory(err, "sums over hosts");
        across->sums = sums;
        across->sums_capacity = count;
    }
    if (!link->gather(link->context, values, count * sizeof *values, across->sums, err))
        return false;
    for (size_t h = 1; h < hosts; h++)
        for (size_t i = 0; i < count; i++)
            across->sums[i] += across->sums[h * count + i];
    return true;
}

bool sync_sum(const struct sync_group *group, int rank, double *values, size_t count,
              double *waited, struct error *err)
{
    struct sync_end *end = &group->ends[rank];
    if (!barrier_sum(group->barrier, rank, values, count, waited, err))
        return false;
    if (!group->link)
        return true;
    const double begin = clock_seconds();
    double together = 0;
    atomic_store(&end->waits, true);
    const bool ok = rank != 0 || sum_hosts(group, values, count, err);
    atomic_store(&end->waits, false);
    if (!ok || !sync_wait(group, rank, &together, err))
        return false;
    memcpy(values, group->across->sums, count * sizeof *values);
    *waited += clock_seconds() - begin;
    return true;
}
