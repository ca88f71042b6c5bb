/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/viewers/parts.h"

/* Add what is due to a viewer's output. */
void server_add_events(struct server *server, struct connection *connection);
void server_add_state(struct server *server, struct connection *connection, double now);
/* After any change of the runs that viewers follow. */
void server_count_followers(struct server *server);
