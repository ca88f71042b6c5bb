/* SPDX-License-Identifier: MIT */
#include "engine/hosts/rank/link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "engine/hosts/rank/calls.h"
#include "engine/hosts/rank/link_state.h"
#include "engine/hosts/rank/messages.h"

/* How long to rest while a thread waits, while sums are under way beside the work of others, and
 * else. */
static const long WAITED_FOR_NS = 10000, UNDER_WAY_NS = 100000;
static const double IDLE_S = 0.002;

bool link_mpi_check(int status, const char *what, struct error *err)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (status == MPI_SUCCESS)
        return true;
    if (MPI_Error_string(status, text, &length) != MPI_SUCCESS)
        snprintf(text, sizeof text, "error %d", status);
    return error_set(err, ERROR_LOST, "MPI, %s: %s", what, text);
}

void link_take_failure(struct mpi_link *link, const struct error *reason)
{
    if (link->failure.kind != ERROR_NONE)
        return;
    link->failure = *reason;
    atomic_store(&link->failed, true);
    pthread_cond_signal(&link->wake);
}

/* With the lock held: until the call has been done, or nothing is any more. */
static bool wait_for(struct mpi_link *link, struct error *err)
{
    pthread_cond_signal(&link->wake);
    while (link->call.kind != CALL_NONE && !link->over)
        pthread_cond_wait(&link->changed, &link->lock);
    if (!link->over)
        return true;
    link->call.kind = CALL_NONE;
    *err = link->failure;
    return false;
}

static bool make_call(struct mpi_link *link, struct call call, struct error *err)
{
    pthread_mutex_lock(&link->lock);
    link->call = call;
    link->call.request = MPI_REQUEST_NULL;
    const bool ok = wait_for(link, err);
    pthread_mutex_unlock(&link->lock);
    return ok;
}

static bool gather(void *context, const void *own, size_t bytes, void *all, struct error *err)
{
    if (bytes > LINK_MOST_BYTES)
        return error_set(err, ERROR_FAILED, "what hosts tell each other is too much at a time");
    return bytes == 0 ||
           make_call(context,
                     (struct call){.kind = CALL_GATHER, .own = own, .data = all, .bytes = bytes},
                     err);
}

static bool broadcast(void *context, int root, void *data, size_t bytes, struct error *err)
{
    return bytes == 0 ||
           make_call(
               context,
               (struct call){.kind = CALL_BROADCAST, .data = data, .bytes = bytes, .root = root},
               err);
}

static bool sum_begin(void *context, float *values, size_t count, bool everywhere,
                      struct error *err)
{
    struct mpi_link *link = context;
    bool ok = true;
    pthread_mutex_lock(&link->lock);
    if (link->over) {
        *err = link->failure;
        ok = false;
    } else if (link->sum_count == SUMS || count * sizeof *values > LINK_MOST_BYTES) {
        ok = error_set(err, ERROR_FAILED, "sums over hosts: too many at a time");
    } else {
        link->sum[link->sum_count++] =
            (struct sum){.values = values, .count = count, .everywhere = everywhere};
    }
    pthread_cond_signal(&link->wake);
    pthread_mutex_unlock(&link->lock);
    return ok;
}

static bool sum_end(void *context, struct error *err)
{
    return make_call(context, (struct call){.kind = CALL_SUMS}, err);
}

static double summed_s(void *context)
{
    struct mpi_link *link = context;
    pthread_mutex_lock(&link->lock);
    const double seconds = link->summed_s;
    pthread_mutex_unlock(&link->lock);
    return seconds;
}

static void cut(void *context)
{
    struct mpi_link *link = context;
    atomic_store(&link->cut_asked, true);
}

/* Once: what is evaluated next is not what it was about. */
static bool is_cut(void *context)
{
    struct mpi_link *link = context;
    return atomic_exchange(&link->cut, false);
}

static void fail(void *context, const struct error *reason)
{
    struct mpi_link *link = context;
    pthread_mutex_lock(&link->lock);
    link_take_failure(link, reason);
    while (!link->over)
        pthread_cond_wait(&link->changed, &link->lock);
    pthread_mutex_unlock(&link->lock);
}

static bool check(void *context, struct error *err)
{
    struct mpi_link *link = context;
    if (!atomic_load(&link->failed))
        return true;
    pthread_mutex_lock(&link->lock);
    *err = link->failure;
    pthread_mutex_unlock(&link->lock);
    return false;
}

void link_fail(struct mpi_link *link, const struct error *reason)
{
    pthread_mutex_lock(&link->lock);
    link_take_failure(link, reason);
    pthread_mutex_unlock(&link->lock);
}

void link_ask_to_stop(struct mpi_link *link)
{
    atomic_store(&link->stop_asked, true);
}

bool link_is_asked_to_stop(struct mpi_link *link)
{
    return atomic_load(&link->stop);
}

static bool duplicate(MPI_Comm from, MPI_Comm *to, struct error *err)
{
    return link_mpi_check(MPI_Comm_dup(from, to), "communicators", err) &&
           link_mpi_check(MPI_Comm_set_errhandler(*to, MPI_ERRORS_RETURN), "communicators", err);
}

/*
 * Its own choice for an all-reduce in place sends all gradients to one process and back; by
 * reduce-scatter and all-gather each line carries as much in both directions at once. And as the
 * thread that calls MPI shares its cores with those that compute, more should be under way when its
 * turn comes. Without these variables sums only take longer.
 */
void link_choose_algorithms(void)
{
#if defined OMPI_MAJOR_VERSION && (OMPI_MAJOR_VERSION > 4 || OMPI_MINOR_VERSION >= 1)
    (void)setenv("OMPI_MCA_coll_libnbc_iallreduce_algorithm", "rabenseifner", 0);
#endif
    (void)setenv("OMPI_MCA_pml_ob1_send_pipeline_depth", "16", 0);
}

bool link_open(MPI_Comm comm, const struct host_list *hosts, double limit_s, struct mpi_link **out,
               struct error *err)
{
    struct mpi_link *link = calloc(1, sizeof *link);
    if (!link)
        return error_memory(err, "the link to other hosts");
    link->base = (struct host_link){.hosts = *hosts,
                                    .context = link,
                                    .gather = gather,
                                    .broadcast = broadcast,
                                    .sum_begin = sum_begin,
                                    .sum_end = sum_end,
                                    .summed_s = summed_s,
                                    .cut = cut,
                                    .is_cut = is_cut,
                                    .fail = fail,
                                    .check = check};
    link->limit_s = limit_s;
    link->period_s = limit_s < 4 ? limit_s / 4 : 1;
    pthread_mutex_init(&link->lock, NULL);
    pthread_cond_init(&link->changed, NULL);
    for (int h = 0; h < hosts->count; h++) {
        link->peer[h].heard = clock_seconds();
        for (int i = 0; i < MESSAGES; i++)
            link->peer[h].request[i] = MPI_REQUEST_NULL;
    }
    *out = link;
    errno = deadline_cond_init(&link->wake);
    if (errno)
        return error_errno(err, "the link to other hosts");
    return link_mpi_check(MPI_Comm_rank(comm, &link->base.index), "rank", err) &&
           duplicate(comm, &link->calls, err) && duplicate(comm, &link->sums, err) &&
           duplicate(comm, &link->messages, err);
}

struct host_link *link_of(struct mpi_link *link)
{
    return &link->base;
}

static void rest(struct mpi_link *link)
{
    pthread_mutex_lock(&link->lock);
    const bool waited_for = link->call.kind != CALL_NONE;
    const bool under_way = link->sums_done < link->sum_count;
    const struct timespec moment = {.tv_nsec = waited_for ? WAITED_FOR_NS : UNDER_WAY_NS};
    const struct timespec idle = deadline_after(IDLE_S);
    if (!waited_for && !under_way)
        (void)pthread_cond_timedwait(&link->wake, &link->lock, &idle);
    pthread_mutex_unlock(&link->lock);
    if (waited_for || under_way)
        nanosleep(&moment, NULL);
}

bool link_serve(struct mpi_link *link)
{
    struct error err = ERROR_INIT;
    const double now = clock_seconds();
    pthread_mutex_lock(&link->lock);
    bool ok = link->failure.kind == ERROR_NONE;
    if (!ok)
        err = link->failure;
    ok = ok && calls_serve_sums(link, &err) && calls_serve(link, &err);
    pthread_mutex_unlock(&link->lock);
    ok = ok && messages_listen(link, &err) && messages_talk(link, now, &err) &&
         messages_miss(link, clock_seconds(), &err);
    if (ok) {
        rest(link);
        return true;
    }
    pthread_mutex_lock(&link->lock);
    link_take_failure(link, &err);
    err = link->failure;
    pthread_mutex_unlock(&link->lock);
    messages_say_farewell(link, &err);
    return false;
}
