/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/viewers/parts.h"

struct method_call {
    struct server *server;
    struct connection *connection;
    const json_t *params;
    json_t *result; /* a new reference */
    struct error *err;
};

/*
 * A method of docs/protocol.md that is answered at once: it returns an RPC code, RPC_OK with a
 * result or another with the error's text.
 */
typedef int method_function(struct method_call *call);

/* Set the error's text and return the code. */
int method_fail(struct error *err, int code, const char *text);
/* Take the queue's lock and find the run that the parameters name; on RPC_OK the lock is held. */
int method_lock_run(struct method_call *call, struct record **record);
void method_unlock(struct server *server);
