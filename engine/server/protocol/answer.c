/* SPDX-License-Identifier: MIT */
#include "engine/server/protocol/answer.h"

#include <limits.h>

#include "base/json.h"

int method_fail(struct error *err, int code, const char *text)
{
    error_set(err, code == RPC_PARAMS ? ERROR_USAGE : ERROR_FAILED, "%s", text);
    return code;
}

int method_lock_run(struct method_call *call, struct record **record)
{
    long number = 0;
    if (!json_get_long(call->params, "run", 1, LONG_MAX, &number, call->err))
        return RPC_PARAMS;
    if (!number)
        return method_fail(call->err, RPC_PARAMS, "'run' is missing");
    pthread_mutex_lock(&call->server->queue.lock);
    *record = queue_recall(&call->server->queue, number, call->err);
    if (*record)
        return RPC_OK;
    pthread_mutex_unlock(&call->server->queue.lock);
    return call->err->kind == ERROR_ABSENT ? RPC_NO_RUN : RPC_FAILED;
}

void method_unlock(struct server *server)
{
    pthread_mutex_unlock(&server->queue.lock);
}
