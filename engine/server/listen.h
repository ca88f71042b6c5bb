/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/viewers/parts.h"

/* Listen again where viewers look now; an idle engine that nobody can find ends. */
void server_check_socket(struct server *server, double now);
