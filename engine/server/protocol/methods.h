/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/viewers/parts.h"

/* Requests: which method is meant, and its answer. */

/* Handle one line of a viewer. */
void server_handle_line(struct server *server, struct connection *connection, const char *line,
                        size_t length);
