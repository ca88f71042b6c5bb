/* SPDX-License-Identifier: MIT */
#include "engine/hosts/rank/link.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

/* One MPI call takes fewer bytes than an int counts. */
static const size_t MOST_BYTES = 1 << 30;

/* How long to rest while a thread waits, while sums are under way beside the work of others, and
 * else. */
static const long WAITED_FOR_NS = 10000, UNDER_WAY_NS = 100000, IDLE_NS = 2000000;

/* For how long the others are told of a failure: those that still listen hear of it at once. */
static const double FAREWELL_S = 1;

/* Messages between two hosts. */
enum message { MESSAGE_ALIVE, MESSAGE_CUT, MESSAGE_STOP, MESSAGE_FAILED, MESSAGES };

struct farewell {
    enum error_kind kind;
    char text[sizeof((struct error *)NULL)->text];
};

struct peer {
    double heard;                  /* of it, on clock_seconds */
    MPI_Request request[MESSAGES]; /* to it */
};

/* What a thread waits for. */
enum call_kind { CALL_NONE, CALL_GATHER, CALL_BROADCAST, CALL_SUMS };
struct call {
    enum call_kind kind;
    const void *own;
    void *data;
    size_t bytes, done;
    int root;
    MPI_Request request;
};

/* As many as a step has buckets. */
enum { SUMS = 64 };
struct sum {
    float *values;
    size_t count;
    bool everywhere, begun;
    MPI_Request request;
};

struct mpi_link {
    struct host_link base;
    MPI_Comm calls, sums, messages;
    double limit_s, period_s, beat; /* the newest message that this host is alive */
    struct peer peer[SPEC_MAX_HOSTS];
    struct farewell farewell;

    pthread_mutex_t lock; /* guards the following */
    pthread_cond_t wake, changed;
    struct call call;
    struct sum sum[SUMS];
    int sum_count, sums_done;
    double sums_begin, summed_s; /* since when they are under way; in all, before that */
    struct error failure;        /* kind ERROR_NONE: none */
    bool over;                   /* MPI is not called any more */

    atomic_bool failed, cut_asked, cut, stop_asked, stop;
};

static bool mpi_check(int status, const char *what, struct error *err)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (status == MPI_SUCCESS)
        return true;
    if (MPI_Error_string(status, text, &length) != MPI_SUCCESS)
        snprintf(text, sizeof text, "error %d", status);
    return error_set(err, ERROR_LOST, "MPI, %s: %s", what, text);
}

/* With the lock held. */
static void take_failure(struct mpi_link *link, const struct error *reason)
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
    if (link->over)
        *err = link->failure;
    else if (link->sum_count == SUMS || count * sizeof *values > MOST_BYTES)
        ok = error_set(err, ERROR_FAILED, "sums over hosts: too many at a time");
    else
        link->sum[link->sum_count++] =
            (struct sum){.values = values, .count = count, .everywhere = everywhere};
    ok = ok && !link->over;
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
    take_failure(link, reason);
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
    take_failure(link, reason);
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
    return mpi_check(MPI_Comm_dup(from, to), "communicators", err) &&
           mpi_check(MPI_Comm_set_errhandler(*to, MPI_ERRORS_RETURN), "communicators", err);
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
    pthread_cond_init(&link->wake, NULL);
    pthread_cond_init(&link->changed, NULL);
    for (int h = 0; h < hosts->count; h++) {
        link->peer[h].heard = clock_seconds();
        for (int i = 0; i < MESSAGES; i++)
            link->peer[h].request[i] = MPI_REQUEST_NULL;
    }
    *out = link;
    return mpi_check(MPI_Comm_rank(comm, &link->base.index), "rank", err) &&
           duplicate(comm, &link->calls, err) && duplicate(comm, &link->sums, err) &&
           duplicate(comm, &link->messages, err);
}

struct host_link *link_of(struct mpi_link *link)
{
    return &link->base;
}

/* With the lock held: the next part of what a thread waits for. */
static bool begin_call(struct mpi_link *link, struct call *call, struct error *err)
{
    const size_t left = call->bytes - call->done;
    const int bytes = (int)(left < MOST_BYTES ? left : MOST_BYTES);
    if (call->kind == CALL_BROADCAST)
        return mpi_check(MPI_Ibcast((char *)call->data + call->done, bytes, MPI_BYTE, call->root,
                                    link->calls, &call->request),
                         "broadcast", err);
    return mpi_check(MPI_Iallgather(call->own, bytes, MPI_BYTE, call->data, bytes, MPI_BYTE,
                                    link->calls, &call->request),
                     "gather", err);
}

static void end_call(struct mpi_link *link)
{
    link->call.kind = CALL_NONE;
    pthread_cond_broadcast(&link->changed);
}

/* With the lock held. */
static bool serve_call(struct mpi_link *link, struct error *err)
{
    struct call *call = &link->call;
    int done = 0;
    if (call->kind == CALL_NONE)
        return true;
    if (call->kind == CALL_SUMS) {
        if (link->sums_done == link->sum_count) {
            link->sum_count = link->sums_done = 0;
            end_call(link);
        }
        return true;
    }
    if (call->request == MPI_REQUEST_NULL && !begin_call(link, call, err))
        return false;
    if (!mpi_check(MPI_Test(&call->request, &done, MPI_STATUS_IGNORE), "waiting", err))
        return false;
    if (!done)
        return true;
    call->done += call->bytes - call->done < MOST_BYTES ? call->bytes - call->done : MOST_BYTES;
    if (call->done == call->bytes)
        end_call(link);
    return true;
}

static bool begin_sum(struct mpi_link *link, struct sum *sum, struct error *err)
{
    const int count = (int)sum->count;
    const bool sends = !sum->everywhere && link->base.index != 0;
    sum->begun = true;
    if (link->sums_begin == 0)
        link->sums_begin = clock_seconds();
    if (sum->everywhere)
        return mpi_check(MPI_Iallreduce(MPI_IN_PLACE, sum->values, count, MPI_FLOAT, MPI_SUM,
                                        link->sums, &sum->request),
                         "all-reduce", err);
    return mpi_check(MPI_Ireduce(sends ? sum->values : MPI_IN_PLACE, sends ? NULL : sum->values,
                                 count, MPI_FLOAT, MPI_SUM, 0, link->sums, &sum->request),
                     "reduce", err);
}

/* With the lock held. */
static bool serve_sums(struct mpi_link *link, struct error *err)
{
    for (int i = link->sums_done; i < link->sum_count; i++) {
        int done = 0;
        if (!link->sum[i].begun && !begin_sum(link, &link->sum[i], err))
            return false;
        if (!mpi_check(MPI_Test(&link->sum[i].request, &done, MPI_STATUS_IGNORE), "waiting", err))
            return false;
        if (done && i == link->sums_done)
            link->sums_done++;
    }
    if (link->sums_begin > 0 && link->sums_done == link->sum_count) {
        link->summed_s += clock_seconds() - link->sums_begin;
        link->sums_begin = 0;
    }
    return true;
}

/* The hosts that this one talks with. */
static bool is_peer(const struct mpi_link *link, int host)
{
    return host != link->base.index && (link->base.index == 0 || host == 0);
}

/* Nothing where the same message is still on its way. */
static bool send(struct mpi_link *link, int host, enum message message, struct error *err)
{
    MPI_Request *request = &link->peer[host].request[message];
    const bool failed = message == MESSAGE_FAILED;
    int done = 0;
    if (!mpi_check(MPI_Test(request, &done, MPI_STATUS_IGNORE), "messages", err))
        return false;
    return !done || mpi_check(MPI_Isend(failed ? (void *)&link->farewell : NULL,
                                        failed ? (int)sizeof link->farewell : 0, MPI_BYTE, host,
                                        message, link->messages, request),
                              "messages", err);
}

static bool send_to_all(struct mpi_link *link, enum message message, struct error *err)
{
    for (int h = 0; h < link->base.hosts.count; h++)
        if (is_peer(link, h) && !send(link, h, message, err))
            return false;
    return true;
}

/* A message; false: that a host has failed. */
static bool receive(struct mpi_link *link, const MPI_Status *status, struct error *err)
{
    struct farewell farewell = {.kind = ERROR_LOST};
    const int bytes = status->MPI_TAG == MESSAGE_FAILED ? (int)sizeof farewell : 0;
    if (!mpi_check(MPI_Recv(&farewell, bytes, MPI_BYTE, status->MPI_SOURCE, status->MPI_TAG,
                            link->messages, MPI_STATUS_IGNORE),
                   "messages", err))
        return false;
    link->peer[status->MPI_SOURCE].heard = clock_seconds();
    switch ((enum message)status->MPI_TAG) {
    case MESSAGE_CUT:
        atomic_store(&link->cut, true);
        break;
    case MESSAGE_STOP:
        atomic_store(&link->stop, true);
        break;
    case MESSAGE_FAILED:
        farewell.text[sizeof farewell.text - 1] = '\0';
        return error_set(err, farewell.kind, "%s", farewell.text);
    default:
        break;
    }
    return true;
}

static bool listen(struct mpi_link *link, struct error *err)
{
    MPI_Status status;
    int found = 1;
    for (;;) {
        if (!mpi_check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, link->messages, &found, &status),
                       "messages", err))
            return false;
        if (!found)
            return true;
        if (!receive(link, &status, err))
            return false;
    }
}

static bool talk(struct mpi_link *link, double now, struct error *err)
{
    if (now - link->beat >= link->period_s) {
        link->beat = now;
        if (!send_to_all(link, MESSAGE_ALIVE, err))
            return false;
    }
    if (atomic_exchange(&link->cut_asked, false) && link->base.index == 0 &&
        !send_to_all(link, MESSAGE_CUT, err))
        return false;
    if (!atomic_exchange(&link->stop_asked, false))
        return true;
    atomic_store(&link->stop, true);
    return send_to_all(link, MESSAGE_STOP, err);
}

static bool miss(const struct mpi_link *link, double now, struct error *err)
{
    for (int h = 0; h < link->base.hosts.count; h++)
        if (is_peer(link, h) && now - link->peer[h].heard > link->limit_s)
            return error_set(err, ERROR_LOST,
                             "%s (rank %d) has not been heard from for %.0f s: its process hangs, "
                             "or the network is down",
                             link->base.hosts.name[h], h, now - link->peer[h].heard);
    return true;
}

/* Tell the others, who may not listen any more, and leave MPI alone from then on. */
static void say_farewell(struct mpi_link *link, const struct error *reason)
{
    struct error ignored = ERROR_INIT;
    const double end = clock_seconds() + FAREWELL_S;
    int left = 1;
    link->farewell.kind = reason->kind;
    snprintf(link->farewell.text, sizeof link->farewell.text, "%s", reason->text);
    bool ok = send_to_all(link, MESSAGE_FAILED, &ignored);
    while (ok && left > 0 && clock_seconds() < end) {
        const struct timespec rest = {.tv_nsec = UNDER_WAY_NS};
        left = 0;
        for (int h = 0; ok && h < link->base.hosts.count; h++) {
            int done = 1;
            MPI_Request *request = &link->peer[h].request[MESSAGE_FAILED];
            ok = MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS;
            left += !done;
        }
        nanosleep(&rest, NULL);
    }
    pthread_mutex_lock(&link->lock);
    link->over = true;
    pthread_cond_broadcast(&link->changed);
    pthread_mutex_unlock(&link->lock);
}

static void rest(struct mpi_link *link)
{
    pthread_mutex_lock(&link->lock);
    const bool waited_for = link->call.kind != CALL_NONE;
    const bool under_way = link->sums_done < link->sum_count;
    const long ns = waited_for ? WAITED_FOR_NS : under_way ? UNDER_WAY_NS : IDLE_NS;
    if (!waited_for && !under_way) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += ns;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&link->wake, &link->lock, &until);
        pthread_mutex_unlock(&link->lock);
        return;
    }
    pthread_mutex_unlock(&link->lock);
    const struct timespec moment = {.tv_nsec = ns};
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
    ok = ok && serve_sums(link, &err) && serve_call(link, &err);
    pthread_mutex_unlock(&link->lock);
    ok = ok && listen(link, &err) && talk(link, now, &err) && miss(link, clock_seconds(), &err);
    if (ok) {
        rest(link);
        return true;
    }
    pthread_mutex_lock(&link->lock);
    take_failure(link, &err);
    err = link->failure;
    pthread_mutex_unlock(&link->lock);
    say_farewell(link, &err);
    return false;
}
