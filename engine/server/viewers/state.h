/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_SERVER_VIEWERS_STATE_H
#define DPARTUI_ENGINE_SERVER_VIEWERS_STATE_H

#include "engine/server/viewers/parts.h"

/* The state notification's parameters. */
json_t *server_state_json(struct server *server);

#endif
