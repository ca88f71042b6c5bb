/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/viewers/parts.h"

/* Read, and handle what there is, on the budget. False: nothing was read. */
bool server_take_requests(struct server *server, struct connection *connection, bool readable);
/* Is there a request that server_take_requests could handle without reading? */
bool server_has_lines(const struct connection *connection);
