/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/viewers/parts.h"

/* Connections of viewers. server_add_connection takes over `fd`. */
bool server_add_connection(struct server *server, int fd, struct error *err);
void server_accept_connections(struct server *server, double now);
void server_drop_connection(struct server *server, int index);
