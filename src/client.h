/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_CLIENT_H
#define DPARTUI_CLIENT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

/*
 * The viewer's side of docs/protocol.md. One connection, one thread. Lost connections are errors
 * with advice, never signals.
 */
struct client;

/*
 * Connect to this user's background engine; false at once (no waiting) when none answers, with
 * ERROR_ABSENT when that is because none runs.
 */
bool client_connect(struct client **out, struct error *err);

/*
 * Start the background engine (a process in a session of its own, detached from the terminal) and
 * return without waiting for it; connect until it answers. Two started at once: one wins, the
 * other leaves.
 */
bool client_start_engine(struct error *err);

/* Connect, starting the engine when none answers, and wait for it up to `seconds`. */
bool client_open(struct client **out, double seconds, struct error *err);

/* A private engine as a child process that ends with the connection. */
bool client_open_private(struct client **out, struct error *err);

void client_close(struct client *client);

/* For poll(): the socket, and whether it should also be polled for writing. */
int client_fd(const struct client *client);
bool client_wants_write(const struct client *client);

/*
 * Queue a request without waiting; `params` is stolen (NULL: none). *id identifies the response.
 * Never blocks; what the socket does not take is written by later calls of client_next.
 */
bool client_send(struct client *client, const char *method, json_t *params, long *id,
                 struct error *err);

/*
 * Read and write what can be done without blocking and hand out the next message: a notification
 * ("method") or a response ("id"). *message is NULL when there is none now; the caller releases it
 * with json_decref. False: the connection is lost.
 */
bool client_next(struct client *client, json_t **message, struct error *err);

/*
 * Send a request and wait up to `seconds` for its result (a new reference; `result` may be NULL).
 * Messages that arrive meanwhile are kept for client_next. An error response becomes *err
 * (ERROR_USAGE for -32602, ERROR_ABSENT for -32001: there is no such run).
 */
bool client_call(struct client *client, const char *method, json_t *params, double seconds,
                 json_t **result, struct error *err);

/*
 * The error of a response message, as in client_call; true when it has a "result", which *result
 * (may be NULL) borrows from the message.
 */
bool client_response(const json_t *message, json_t **result, struct error *err);

#endif
