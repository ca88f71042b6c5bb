/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_SERVER_PROTOCOL_METHODS_H
#define DPARTUI_ENGINE_SERVER_PROTOCOL_METHODS_H

#include "engine/server/server_state.h"

/*
 * The methods of docs/protocol.md that are answered at once: each returns an RPC code, RPC_OK with
 * a result (a new reference) or another with the error's text.
 */
typedef int method_function(struct server *server, struct connection *connection,
                            const json_t *params, json_t **result, struct error *err);

/* protocol/ask.c */
method_function method_hello, method_status, method_runs, method_show, method_log, method_follow,
    method_watch, method_shutdown;

/* protocol/change.c */
method_function method_stop, method_set_lr, method_set_epochs, method_pause, method_unpause,
    method_move, method_delete, method_note, method_tag;

/* methods.c: set the error's text and return the code. */
int method_fail(struct error *err, int code, const char *text);
/* Take the queue's lock and find the run that `params` names; on RPC_OK the lock is held. */
int method_lock_run(struct server *server, const json_t *params, struct record **record,
                    struct error *err);
void method_unlock(struct server *server);

#endif
