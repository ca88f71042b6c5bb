/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "remote/line.h"

/*
 * The viewer's side of docs/protocol.md. One connection, one thread. Lost connections are errors
 * with advice, never signals.
 */
struct client;

/* Without an answer for this many seconds an engine is silent, and may be stopped. */
#define CLIENT_SILENT 2.0

/* The engine's process on this machine; 0: not known, or on another one. */
pid_t client_engine(const struct client *client);

/* Did a call fail because the engine has closed the connection? */
bool client_is_lost(const struct client *client);

/* The name of the other host that the engine is on; NULL: it is on this one. */
const char *client_host(const struct client *client);
/* How the line to another host has ended, and why, if it went down: "" otherwise. */
enum line_end client_line_end(const struct client *client);
const char *client_line_why(const struct client *client);
/*
 * Wait up to `seconds` for the first word of the engine, and show on standard error what ssh says
 * meanwhile. False: the connection is lost, or ERROR_SILENT.
 */
bool client_await(struct client *client, double seconds, struct error *err);

/* For poll(): the socket, also for writing where there is something to write. */
struct pollfd client_poll(const struct client *client);

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
 * (ERROR_USAGE for -32602, ERROR_ABSENT for -32001: there is no such run). ERROR_SILENT: no answer;
 * an engine that is stopped is not waited for longer than CLIENT_SILENT seconds.
 */
bool client_call(struct client *client, const char *method, json_t *params, double seconds,
                 json_t **result, struct error *err);

/*
 * The error of a response message, as in client_call; true when it has a "result", which *result
 * (may be NULL) borrows from the message.
 */
bool client_response(const json_t *message, json_t **result, struct error *err);
