/* SPDX-License-Identifier: MIT */
#pragma once

#include "client/open.h"

/* How the commands reach an engine. Each opens a connection and makes sure of the protocol. */

#define SESSION_SECONDS 20.0  /* for the engine to start or to answer */
#define SUBMIT_SECONDS  300.0 /* to check a run, whose data may lie on a slow disk */
#define WATCH_SECONDS   0.25  /* between states, for a line on the terminal */
#define REMOTE_SECONDS  120.0 /* for another host to be reached, with what ssh asks the user */

/*
 * The background engine, started if none runs. This one and the two below reach that of another
 * host where `remote` names one.
 */
bool session_open(const struct remote *remote, struct client **out, struct error *err);
/* A private one, for one command. */
bool session_open_private(const struct remote *remote, struct client **out, struct error *err);
/* For a command that only asks: the background engine if one runs, else a private one. */
bool session_open_to_ask(const struct remote *remote, struct client **out, struct error *err);
/*
 * The background engine if one runs, else *out is NULL. ERROR_SILENT: it has not answered in
 * SESSION_SECONDS, or is stopped.
 */
bool session_open_running(struct client **out, struct error *err);
/* The same, and ERROR_SILENT when it has not answered within `seconds`. */
bool session_open_within(struct client **out, double seconds, struct error *err);

/*
 * Wait, however long, for the response to the request `id`; *result is a new reference. Each
 * notification before it goes to `notified`, which may end the wait by false.
 */
typedef bool session_notified(void *context, const char *method, const json_t *params,
                              struct error *err);
bool session_wait(struct client *client, long id, session_notified *notified, void *context,
                  json_t **result, struct error *err);

/*
 * Ask for a run to stop, as Ctrl-C does: the first time (`times` 0) after its step, then at once.
 * *remark is what to say about it. The answer is not waited for.
 */
bool session_stop(struct client *client, long run, int times, const char **remark,
                  struct error *err);
