/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/socket/connection.h"

/*
 * Which connection gives way when all places are taken. Nothing is expected of a peer's manners:
 * whoever is connected without a use for it loses the place, whoever subscribes keeps it, and the
 * places that nobody may subscribe on are always left for commands.
 */

#define CONNECTION_LIMIT 64
/* Connections that watch or follow; the other places are for commands. */
#define SUBSCRIBER_LIMIT 56

/* Seconds in which a connection that says nothing is not yet idle. */
#define PLACES_IDLE 0.1
/* Seconds after which a connection that does not subscribe may lose its place also while it asks.
 */
#define PLACES_COMMAND 5.0
/* Seconds after which a subscriber that takes nothing of what waits for it may lose its place. */
#define PLACES_STALLED 60.0

/*
 * The index of the connection that gives way to a new one, or -1: none yet. In this order:
 * connections that never sent a request, and idle ones, each the one without a request or a byte
 * taken for longest; then of those older than PLACES_COMMAND the oldest one that asks all the time,
 * or the oldest one that something is computed for. Subscribers stay. While there are connections
 * too new to be idle, it is one of them or none: connecting without asking costs no other viewer
 * its place, however often it is done.
 */
int places_victim(struct connection *const *connections, int count, double now);

/*
 * May this connection subscribe? When as many do as may, *stalled is one of them that gives way for
 * it, if there is one; otherwise it is NULL.
 */
bool places_may_subscribe(struct connection *const *connections, int count,
                          const struct connection *who, double now, struct connection **stalled);
