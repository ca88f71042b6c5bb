/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "client/client.h"

/* Connections from their beginning to their end. */

/*
 * Connect to this user's background engine; false at once (no waiting) when none answers, with
 * ERROR_ABSENT when that is because none runs.
 */
bool client_connect(struct client **out, struct error *err);

/*
 * The same, waiting up to `seconds` while the engine has no place for another connection;
 * ERROR_SILENT when it then still has none, or is stopped.
 */
bool client_connect_within(struct client **out, double seconds, struct error *err);

/* Connect, starting the engine when none answers, and wait for it up to `seconds`. */
bool client_open(struct client **out, double seconds, struct error *err);

/* A private engine as a child process that ends with the connection. */
bool client_open_private(struct client **out, struct error *err);

/*
 * The engine of another host, by ssh; at once, whatever comes of it: what is sent meanwhile waits.
 * `running`: only an engine that runs. What can be asked for by ssh depends on `use`.
 */
bool client_open_remote(struct client **out, const struct remote *remote, enum line_use use,
                        bool running, struct error *err);

/* What was sent is given time to leave, a private engine to end. */
void client_close(struct client *client);
/* Without waiting for either: for connections that only listened. */
void client_drop(struct client *client);
