/* SPDX-License-Identifier: MIT */
#include "engine/server/protocol/methods.h"

#include <string.h>

#include "base/json.h"
#include "engine/server/protocol/ask.h"
#include "engine/server/protocol/change.h"
#include "engine/server/tasks/checkpoints.h"
#include "engine/server/tasks/devices.h"
#include "engine/server/tasks/evaluate.h"
#include "engine/server/tasks/fetch.h"
#include "engine/server/tasks/model.h"
#include "engine/server/tasks/predict.h"
#include "engine/server/tasks/submit.h"
#include "engine/server/tasks/weights.h"
#include "engine/server/viewers/work.h"

struct method {
    const char *name;
    method_function *answer; /* at once, or ... */
    task_work *work;         /* ... on a separate thread */
    /* Later requests of the same viewer wait for it. */
    bool in_order;
    /* It computes for long because somebody asked for just that: one at a time, and whoever asks
     * for something else after it does not wait until the viewers' budget has paid for it. */
    bool alone;
};

static const struct method methods[] = {
    {"hello", method_hello, NULL, false, false},
    {"status", method_status, NULL, false, false},
    {"devices", NULL, task_devices, false, false},
    {"check", NULL, task_check, false, false},
    {"submit", NULL, task_submit, true, false},
    {"stop", method_stop, NULL, false, false},
    {"set_lr", method_set_lr, NULL, false, false},
    {"set_epochs", method_set_epochs, NULL, false, false},
    {"pause", method_pause, NULL, false, false},
    {"unpause", method_unpause, NULL, false, false},
    {"move", method_move, NULL, false, false},
    {"delete", method_delete, NULL, false, false},
    {"note", method_note, NULL, false, false},
    {"tag", method_tag, NULL, false, false},
    {"log", method_log, NULL, false, false},
    {"runs", method_runs, NULL, false, false},
    {"show", method_show, NULL, false, false},
    {"checkpoints", NULL, task_checkpoints, false, false},
    {"model", NULL, task_model, false, false},
    {"follow", method_follow, NULL, false, false},
    {"watch", method_watch, NULL, false, false},
    {"weights", NULL, task_weights, false, false},
    {"evaluate", NULL, task_evaluate, false, true},
    {"predict", NULL, task_predict, false, true},
    {"fetch", NULL, task_fetch, false, false},
    {"cancel", method_cancel, NULL, false, false},
    {"shutdown", method_shutdown, NULL, false, false},
    {"resume", method_unpause, NULL, false, false}, /* its old name */
};

static const struct method *find_method(const char *name)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i].name, name) == 0)
            return &methods[i];
    return NULL;
}

/* What is wrong with the form of a request, or NULL. */
static const char *malformed(const json_t *request)
{
    const char *version = json_string_value(json_object_get(request, "jsonrpc"));
    const json_t *id = json_object_get(request, "id");
    if (json_is_array(request))
        return "batches are not supported: send one request a line";
    if (!json_is_object(request))
        return "a request is a JSON object";
    if (!version || strcmp(version, "2.0") != 0)
        return "'jsonrpc' must be \"2.0\"";
    if (!json_is_string(json_object_get(request, "method")))
        return "'method' must be a string";
    if (id && !json_is_string(id) && !json_is_number(id) && !json_is_null(id))
        return "'id' must be a string, a number or null";
    return NULL;
}

/* Call a method of a well-formed request and answer, if it has an id. */
static void answer(struct server *server, struct connection *connection, json_t *request,
                   json_t *id)
{
    const char *name = json_string_value(json_object_get(request, "method"));
    json_t *params = json_object_get(request, "params");
    const struct method *method = find_method(name);
    struct error err = ERROR_INIT;
    int code = RPC_OK;
    json_t *given = params && !json_is_null(params) ? json_incref(params) : json_object();
    struct method_call call = {server, connection, given, NULL, &err};
    if (!method) {
        error_set(&err, ERROR_USAGE, "there is no method '%.100s'", name);
        code = RPC_NO_METHOD;
    } else if (!json_is_object(given)) {
        code = method_fail(&err, RPC_PARAMS, "'params' must be an object");
    } else if (method->work) {
        server_take_work(server, connection,
                         &(struct request){.work = method->work,
                                           .method = method->name,
                                           .in_order = method->in_order,
                                           .alone = method->alone,
                                           .id = json_incref(id),
                                           .params = given});
        return;
    } else {
        code = method->answer(&call);
    }
    json_decref(given);
    if (code == RPC_OK && !call.result)
        code = method_fail(&err, RPC_FAILED, "out of memory");
    if (!id)
        json_decref(call.result);
    else if (code == RPC_OK)
        connection_put_result(connection, id, call.result);
    else
        connection_put_error(connection, id, code, err.text);
}

void server_handle_line(struct server *server, struct connection *connection, const char *line,
                        size_t length)
{
    json_error_t where;
    json_t *request = json_read(line, length, JSON_DECODE_ANY, &where);
    if (!request) {
        struct error err = ERROR_INIT;
        error_set(&err, ERROR_USAGE, "not JSON at column %d", where.column);
        connection_put_error(connection, NULL, RPC_NOT_JSON, err.text);
        return;
    }
    const char *wrong = malformed(request);
    json_t *id = json_object_get(request, "id");
    if (wrong)
        connection_put_error(connection, json_is_string(id) || json_is_number(id) ? id : NULL,
                             RPC_NO_REQUEST, wrong);
    else
        answer(server, connection, request, id);
    json_decref(request);
}
