/* SPDX-License-Identifier: MIT */
#include "engine/hosts/rank/messages.h"

#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "engine/hosts/complaint.h"
#include "engine/hosts/rank/link_state.h"

/* For how long the others are told of a failure: those that still listen hear of it at once. */
static const double FAREWELL_S = 1;

/* Between two looks at whether they have heard. */
static const long FAREWELL_LOOK_NS = 100000;

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
    if (!link_mpi_check(MPI_Test(request, &done, MPI_STATUS_IGNORE), "messages", err))
        return false;
    return !done || link_mpi_check(MPI_Isend(failed ? (void *)&link->farewell : NULL,
                                             failed ? (int)sizeof link->farewell : 0, MPI_BYTE,
                                             host, message, link->messages, request),
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
    if (!link_mpi_check(MPI_Recv(&farewell, bytes, MPI_BYTE, status->MPI_SOURCE, status->MPI_TAG,
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

bool messages_listen(struct mpi_link *link, struct error *err)
{
    MPI_Status status;
    int found = 1;
    for (;;) {
        if (!link_mpi_check(
                MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, link->messages, &found, &status),
                "messages", err))
            return false;
        if (!found)
            return true;
        if (!receive(link, &status, err))
            return false;
    }
}

bool messages_talk(struct mpi_link *link, double now, struct error *err)
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

bool messages_miss(const struct mpi_link *link, double now, struct error *err)
{
    for (int h = 0; h < link->base.hosts.count; h++)
        if (is_peer(link, h) && now - link->peer[h].heard > link->limit_s)
            return host_is_silent(link->base.hosts.name[h], h, now - link->peer[h].heard, err);
    return true;
}

void messages_say_farewell(struct mpi_link *link, const struct error *reason)
{
    struct error ignored = ERROR_INIT;
    const double end = clock_seconds() + FAREWELL_S;
    int left = 1;
    link->farewell.kind = reason->kind;
    snprintf(link->farewell.text, sizeof link->farewell.text, "%s", reason->text);
    bool ok = send_to_all(link, MESSAGE_FAILED, &ignored);
    while (ok && left > 0 && clock_seconds() < end) {
        const struct timespec rest = {.tv_nsec = FAREWELL_LOOK_NS};
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
