/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/viewers/parts.h"

/*
 * A method of docs/protocol.md that is answered at once: it returns an RPC code, RPC_OK with a
 * result (a new reference) or another with the error's text.
 */
typedef int method_function(struct server *server, struct connection *connection,
                            const json_t *params, json_t **result, struct error *err);

/* Set the error's text and return the code. */
int method_fail(struct error *err, int code, const char *text);
/* Take the queue's lock and find the run that `params` names; on RPC_OK the lock is held. */
int method_lock_run(struct server *server, const json_t *params, struct record **record,
                    struct error *err);
void method_unlock(struct server *server);
