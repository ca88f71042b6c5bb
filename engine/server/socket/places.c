/* SPDX-License-Identifier: MIT */
#include "engine/server/socket/places.h"

#include <sys/ioctl.h>

/* From the last to go to the first. */
enum rank { RANK_STAYS, RANK_COMPUTES, RANK_ASKS, RANK_IDLE, RANK_NEVER_ASKED };

static bool subscribes(const struct connection *connection)
{
    return connection->watching || connection->follow_count > 0;
}

/* Is there something it sent that the budget has left unread so far? */
static bool waits(const struct connection *connection)
{
    int bytes = 0;
    return connection_accepts(connection) &&
           (connection->in_scanned < connection->in.length ||
            (ioctl(connection->fd, FIONREAD, &bytes) == 0 && bytes > 0));
}

/* `waiting`: it waits for its turn, so that it is not idle. */
static enum rank rank(const struct connection *connection, bool waiting, double now)
{
    bool old = now - connection->since >= PLACES_COMMAND;
    if (subscribes(connection))
        return RANK_STAYS;
    if (connection->tasks > 0 || connection->waiting.work)
        return old ? RANK_COMPUTES : RANK_STAYS;
    if (now - connection->active < PLACES_IDLE || waiting)
        return old ? RANK_ASKS : RANK_STAYS;
    return connection->asked ? RANK_IDLE : RANK_NEVER_ASKED;
}

/* How long it has had its chance; a request that waits is not its own fault. */
static double patience(const struct connection *connection, enum rank rank, double now)
{
    return now - (rank >= RANK_IDLE ? connection->active : connection->since);
}

/* The first to go, or -1, and its rank. */
static int first_to_go(struct connection *const *connections, const bool *waiting, int count,
                       double now, enum rank *worst)
{
    int victim = -1;
    double longest = 0;
    *worst = RANK_STAYS;
    for (int i = 0; i < count; i++) {
        enum rank own = rank(connections[i], waiting[i], now);
        double time = patience(connections[i], own, now);
        if (own > *worst || (own == *worst && victim >= 0 && time > longest)) {
            *worst = own;
            longest = time;
            victim = i;
        }
    }
    return victim;
}

/* Is there a connection that will be idle in a moment, unless it asks something? */
static bool has_fresh(struct connection *const *connections, int count, double now)
{
    for (int i = 0; i < count; i++)
        if (!connections[i]->asked && !subscribes(connections[i]) &&
            now - connections[i]->active < PLACES_IDLE && !waits(connections[i]))
            return true;
    return false;
}

int places_victim(struct connection *const *connections, int count, double now)
{
    bool waiting[CONNECTION_LIMIT] = {false};
    enum rank worst;
    int victim = first_to_go(connections, waiting, count, now, &worst);
    /* Looking for unread bytes is a system call: only of those that would have to go. */
    while (worst >= RANK_IDLE && waits(connections[victim])) {
        waiting[victim] = true;
        victim = first_to_go(connections, waiting, count, now, &worst);
    }
    return worst < RANK_NEVER_ASKED && has_fresh(connections, count, now) ? -1 : victim;
}

bool places_may_subscribe(struct connection *const *connections, int count,
                          const struct connection *who, double now, struct connection **stalled)
{
    int subscribers = 0;
    *stalled = NULL;
    if (subscribes(who))
        return true;
    for (int i = 0; i < count; i++) {
        struct connection *one = connections[i];
        if (!subscribes(one) || one->lost)
            continue;
        subscribers++;
        if (one->out.length && now - one->active >= PLACES_STALLED &&
            (!*stalled || one->active < (*stalled)->active))
            *stalled = one;
    }
    if (subscribers >= SUBSCRIBER_LIMIT)
        return *stalled != NULL;
    *stalled = NULL;
    return true;
}
