/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/viewers/parts.h"

/*
 * Requests that are computed on separate threads. Start one, or let it wait with its connection
 * until the budget allows it; takes over id and params. It is answered with an error when there are
 * too many, or when it cannot be started.
 */
void server_take_work(struct server *server, struct connection *connection,
                      const struct request *request);
/* Start what waits with the connection, if the budget allows it. False: it does not, or nothing
 * does. */
bool server_start_waiting(struct server *server, struct connection *connection);
/* Charge what tasks have had of the processor since they were last charged. */
void server_charge_tasks(struct server *server);
/* Hand out progress and results of tasks. */
void server_serve_tasks(struct server *server);
