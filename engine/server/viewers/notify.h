/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_SERVER_VIEWERS_NOTIFY_H
#define DPARTUI_ENGINE_SERVER_VIEWERS_NOTIFY_H

#include "engine/server/viewers/parts.h"

/* Add what is due to a viewer's output. */
void server_add_events(struct server *server, struct connection *connection);
void server_add_state(struct server *server, struct connection *connection, double now);
/* After any change of the runs that viewers follow. */
void server_count_followers(struct server *server);

#endif
