/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/viewers/parts.h"

/* The state notification's parameters. */
json_t *server_state_json(struct server *server);
