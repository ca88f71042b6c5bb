/* SPDX-License-Identifier: MIT */
#include "tests/fakes/host_threads.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"

/* Longer than any test waits; sanitizers and other tests beside it included. */
static const double LIMIT_S = 120;

enum call { CALL_NONE, CALL_GATHER, CALL_BROADCAST };

/* Sums that a host has begun. */
struct sum {
    float *values;
    size_t count;
    bool everywhere;
};

enum { SUMS = 64 }; /* more than a step has */

struct host {
    struct host_link link;
    struct host_threads *threads;
    /* The call it is in, until all hosts are. */
    enum call call;
    const void *own;
    void *all;
    size_t bytes;
    int root;
    struct sum sums[SUMS]; /* begun by it and not made yet, as a ring */
    long begun;
};

struct host_threads {
    pthread_mutex_t lock; /* guards everything below, and what hosts have given to the links */
    pthread_cond_t changed;
    int count;
    long calls; /* that all hosts have made */
    long made;  /* sums */
    bool cut;
    struct error failure;
    struct host host[];
};

/* With the lock held: the first reason counts. */
static void fail_with(struct host_threads *threads, const struct host *host,
                      const struct error *reason)
{
    const char *name = host->link.hosts.name[host->link.index];
    if (threads->failure.kind != ERROR_NONE)
        return;
    threads->failure = *reason;
    if (!strstr(reason->text, name))
        error_prefix(&threads->failure, "%s", name);
    pthread_cond_broadcast(&threads->changed);
}

static bool failed(const struct host_threads *threads, struct error *err)
{
    if (threads->failure.kind == ERROR_NONE)
        return false;
    *err = threads->failure;
    return true;
}

/* With the lock held: until *counter, which others move on, is at least `end`, or one has failed.
 */
static bool wait_for(struct host_threads *threads, const long *counter, long end, struct error *err)
{
    const struct timespec deadline = deadline_after(LIMIT_S);
    while (*counter < end) {
        if (failed(threads, err))
            return false;
        ck_assert_msg(pthread_cond_timedwait(&threads->changed, &threads->lock, &deadline) !=
                          ETIMEDOUT,
                      "a host waits for others that do not come");
    }
    return true;
}

static void exchange(struct host_threads *threads)
{
    const struct host *first = &threads->host[0];
    for (int i = 0; i < threads->count; i++) {
        struct host *to = &threads->host[i];
        ck_assert_int_eq(to->call, first->call);
        ck_assert_uint_eq(to->bytes, first->bytes);
        ck_assert_int_eq(to->root, first->root);
        for (int j = 0; j < threads->count && to->call == CALL_GATHER; j++)
            memcpy((char *)to->all + (size_t)j * to->bytes, threads->host[j].own, to->bytes);
        if (to->call == CALL_BROADCAST && i != to->root)
            memcpy(to->all, threads->host[to->root].all, to->bytes);
    }
    for (int i = 0; i < threads->count; i++)
        threads->host[i].call = CALL_NONE;
    threads->calls++;
    pthread_cond_broadcast(&threads->changed);
}

static bool all_have_called(const struct host_threads *threads)
{
    for (int i = 0; i < threads->count; i++)
        if (threads->host[i].call == CALL_NONE)
            return false;
    return true;
}

static bool call(struct host *host, enum call call, const void *own, void *all, size_t bytes,
                 int root, struct error *err)
{
    struct host_threads *threads = host->threads;
    pthread_mutex_lock(&threads->lock);
    const long end = threads->calls + 1;
    bool ok = !failed(threads, err);
    if (ok) {
        ck_assert_int_eq(host->call, CALL_NONE); /* one at a time */
        host->call = call;
        host->own = own;
        host->all = all;
        host->bytes = bytes;
        host->root = root;
        if (all_have_called(threads))
            exchange(threads);
        ok = wait_for(threads, &threads->calls, end, err);
    }
    pthread_mutex_unlock(&threads->lock);
    return ok;
}

static bool gather(void *context, const void *own, size_t bytes, void *all, struct error *err)
{
    return call(context, CALL_GATHER, own, all, bytes, 0, err);
}

static bool broadcast(void *context, int root, void *data, size_t bytes, struct error *err)
{
    return call(context, CALL_BROADCAST, NULL, data, bytes, root, err);
}

static struct sum *sum_of(struct host_threads *threads, int host, long number)
{
    return &threads->host[host].sums[number % SUMS];
}

/* The oldest that is not made yet, in the order of the hosts. */
static void make_sum(struct host_threads *threads)
{
    struct sum *first = sum_of(threads, 0, threads->made);
    for (int i = 1; i < threads->count; i++) {
        struct sum *other = sum_of(threads, i, threads->made);
        ck_assert_uint_eq(other->count, first->count);
        ck_assert_int_eq(other->everywhere, first->everywhere);
        for (size_t j = 0; j < first->count; j++)
            first->values[j] += other->values[j];
    }
    for (int i = 1; first->everywhere && i < threads->count; i++)
        memcpy(sum_of(threads, i, threads->made)->values, first->values,
               first->count * sizeof *first->values);
    threads->made++;
    pthread_cond_broadcast(&threads->changed);
}

static bool all_have_begun(const struct host_threads *threads)
{
    for (int i = 0; i < threads->count; i++)
        if (threads->host[i].begun <= threads->made)
            return false;
    return true;
}

static bool sum_begin(void *context, float *values, size_t count, bool everywhere,
                      struct error *err)
{
    struct host *host = context;
    struct host_threads *threads = host->threads;
    pthread_mutex_lock(&threads->lock);
    const bool ok = !failed(threads, err);
    if (ok) {
        ck_assert_int_lt(host->begun - threads->made, SUMS);
        host->sums[host->begun++ % SUMS] = (struct sum){values, count, everywhere};
        if (all_have_begun(threads))
            make_sum(threads);
    }
    pthread_mutex_unlock(&threads->lock);
    return ok;
}

static bool sum_end(void *context, struct error *err)
{
    struct host *host = context;
    struct host_threads *threads = host->threads;
    pthread_mutex_lock(&threads->lock);
    const bool ok = wait_for(threads, &threads->made, host->begun, err);
    pthread_mutex_unlock(&threads->lock);
    return ok;
}

/* They take no time here. */
static double summed_s(void *context)
{
    (void)context;
    return 0;
}

static void cut(void *context)
{
    struct host *host = context;
    pthread_mutex_lock(&host->threads->lock);
    ck_assert_int_eq(host->link.index, 0);
    host->threads->cut = true;
    pthread_mutex_unlock(&host->threads->lock);
}

static bool is_cut(void *context)
{
    struct host_threads *threads = ((struct host *)context)->threads;
    pthread_mutex_lock(&threads->lock);
    const bool is = threads->cut;
    pthread_mutex_unlock(&threads->lock);
    return is;
}

static void tell_failure(void *context, const struct error *reason)
{
    struct host *host = context;
    pthread_mutex_lock(&host->threads->lock);
    fail_with(host->threads, host, reason);
    pthread_mutex_unlock(&host->threads->lock);
}

static bool check(void *context, struct error *err)
{
    struct host_threads *threads = ((struct host *)context)->threads;
    pthread_mutex_lock(&threads->lock);
    const bool ok = !failed(threads, err);
    pthread_mutex_unlock(&threads->lock);
    return ok;
}

struct host_threads *host_threads_create(const struct host_list *hosts)
{
    struct host_threads *threads =
        calloc(1, sizeof *threads + (size_t)hosts->count * sizeof threads->host[0]);
    ck_assert_ptr_nonnull(threads);
    pthread_mutex_init(&threads->lock, NULL);
    ck_assert_int_eq(deadline_cond_init(&threads->changed), 0);
    threads->count = hosts->count;
    for (int i = 0; i < hosts->count; i++) {
        struct host *host = &threads->host[i];
        host->threads = threads;
        host->link = (struct host_link){
            .hosts = *hosts,
            .index = i,
            .context = host,
            .gather = gather,
            .broadcast = broadcast,
            .sum_begin = sum_begin,
            .sum_end = sum_end,
            .summed_s = summed_s,
            .cut = cut,
            .is_cut = is_cut,
            .fail = tell_failure,
            .check = check,
        };
    }
    return threads;
}

void host_threads_free(struct host_threads *threads)
{
    if (!threads)
        return;
    pthread_cond_destroy(&threads->changed);
    pthread_mutex_destroy(&threads->lock);
    free(threads);
}

struct host_link *host_threads_link(struct host_threads *threads, int host)
{
    return &threads->host[host].link;
}

long host_threads_sums(struct host_threads *threads)
{
    pthread_mutex_lock(&threads->lock);
    const long made = threads->made;
    pthread_mutex_unlock(&threads->lock);
    return made;
}
