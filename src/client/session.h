/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_CLIENT_SESSION_H
#define DPARTUI_CLIENT_SESSION_H

#include "client/open.h"

/* How the commands reach an engine. Each opens a connection and makes sure of the protocol. */

#define SESSION_SECONDS 20.0 /* for the engine to start or to answer */

/* The background engine, started if none runs. */
bool session_open(struct client **out, struct error *err);
/* A private one, for one command. */
bool session_open_private(struct client **out, struct error *err);
/* For a command that only asks: the background engine if one runs, else a private one. */
bool session_open_to_ask(struct client **out, struct error *err);
/*
 * The background engine if one runs, else *out is NULL. ERROR_SILENT: it has not answered in
 * SESSION_SECONDS, or is stopped.
 */
bool session_open_running(struct client **out, struct error *err);
/* The same, and ERROR_SILENT when it has not answered within `seconds`. */
bool session_open_within(struct client **out, double seconds, struct error *err);

#endif
