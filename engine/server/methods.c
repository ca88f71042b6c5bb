/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/local_socket.h"
#include "engine/server/server_state.h"

/*
 * The methods of docs/protocol.md. Those answered at once return an RPC code, RPC_OK with a result
 * (a new reference) or another with the error's text.
 */
typedef int method_function(struct server *server, struct connection *connection,
                            const json_t *params, json_t **result, struct error *err);

struct method {
    const char *name;
    method_function *answer; /* at once, or ... */
    task_work *work;         /* ... on a thread of its own */
    bool barrier;            /* later requests of the same viewer wait for it */
};

static int fail(struct error *err, int code, const char *text)
{
    error_set(err, code == RPC_PARAMS ? ERROR_USAGE : ERROR_FAILED, "%s", text);
    return code;
}

/* Take the queue's lock and find the run that `params` names; on RPC_OK the lock is held. */
static int lock_run(struct server *server, const json_t *params, struct record **record,
                    struct error *err)
{
    long number = 0;
    if (!json_get_long(params, "run", 1, LONG_MAX, &number, err))
        return RPC_PARAMS;
    if (!number)
        return fail(err, RPC_PARAMS, "'run' is missing");
    pthread_mutex_lock(&server->queue.lock);
    *record = queue_find(&server->queue, number);
    if (*record)
        return RPC_OK;
    pthread_mutex_unlock(&server->queue.lock);
    error_set(err, ERROR_FAILED, "there is no run %ld", number);
    return RPC_NO_RUN;
}

static void unlock(struct server *server)
{
    pthread_mutex_unlock(&server->queue.lock);
}

static int do_hello(struct server *server, struct connection *connection, const json_t *params,
                    json_t **result, struct error *err)
{
    (void)connection;
    const char *version = NULL;
    if (!json_get_string(params, "version", &version, err))
        return RPC_PARAMS;
    *result = json_pack("{s:s, s:i, s:i}", "version", server->options->version, "pid",
                        (int)getpid(), "protocol", PROTOCOL_VERSION);
    return RPC_OK;
}

static int do_status(struct server *server, struct connection *connection, const json_t *params,
                     json_t **result, struct error *err)
{
    (void)connection;
    (void)params;
    (void)err;
    pthread_mutex_lock(&server->queue.lock);
    const struct record *current = queue_running(&server->queue);
    *result = json_pack("{s:b, s:i, s:s, s:o}", "running", 1, "pid", (int)getpid(), "version",
                        server->options->version, "run",
                        current ? json_integer(current->number) : json_null());
    unlock(server);
    return RPC_OK;
}

static int do_stop(struct server *server, struct connection *connection, const json_t *params,
                   json_t **result, struct error *err)
{
    (void)connection;
    struct record *record;
    bool now = false;
    if (!json_get_bool(params, "now", &now, err))
        return RPC_PARAMS;
    int code = lock_run(server, params, &record, err);
    if (code != RPC_OK)
        return code;
    if (record->status == RUN_QUEUED || record->status == RUN_RUNNING) {
        queue_stop(&server->queue, record, now ? RUN_STOP_NOW : RUN_STOP_STEP);
    } else {
        error_set(err, ERROR_FAILED, "run %ld has ended already", record->number);
        code = RPC_FAILED;
    }
    unlock(server);
    *result = code == RPC_OK ? json_object() : NULL;
    return code;
}

static int do_set_lr(struct server *server, struct connection *connection, const json_t *params,
                     json_t **result, struct error *err)
{
    (void)connection;
    struct record *record;
    double lr = 0;
    if (!json_get_double(params, "lr", 0, 1e6, &lr, err))
        return RPC_PARAMS;
    if (lr <= 0)
        return fail(err, RPC_PARAMS, "'lr' must be a number above 0");
    int code = lock_run(server, params, &record, err);
    if (code != RPC_OK)
        return code;
    if (record->status == RUN_QUEUED) {
        record->spec.lr = lr;
    } else if (record->status == RUN_RUNNING) {
        atomic_store(&record->control.lr, lr);
    } else {
        error_set(err, ERROR_FAILED, "run %ld has ended", record->number);
        code = RPC_FAILED;
    }
    queue_touch(&server->queue);
    unlock(server);
    *result = code == RPC_OK ? json_object() : NULL;
    return code;
}

static int set_paused(struct server *server, const json_t *params, bool paused, json_t **result,
                      struct error *err)
{
    struct record *record;
    int code = lock_run(server, params, &record, err);
    if (code != RPC_OK)
        return code;
    if (record->status == RUN_RUNNING) {
        atomic_store(&record->control.paused, paused);
        queue_touch(&server->queue);
        *result = json_object();
    } else {
        error_set(err, ERROR_FAILED, "run %ld is %s: only a running run can be paused",
                  record->number, record_status_name(record));
        code = RPC_FAILED;
    }
    unlock(server);
    return code;
}

static int do_pause(struct server *server, struct connection *connection, const json_t *params,
                    json_t **result, struct error *err)
{
    (void)connection;
    return set_paused(server, params, true, result, err);
}

static int do_resume(struct server *server, struct connection *connection, const json_t *params,
                     json_t **result, struct error *err)
{
    (void)connection;
    return set_paused(server, params, false, result, err);
}

/* A response is one line: the oldest runs are left out where there are too many for it. */
#define RUNS_BYTES ((size_t)PROTOCOL_LINE_LIMIT - 4096)

static int do_runs(struct server *server, struct connection *connection, const json_t *params,
                   json_t **result, struct error *err)
{
    (void)connection;
    (void)params;
    (void)err;
    json_t *list = json_array();
    size_t used = 0;
    pthread_mutex_lock(&server->queue.lock);
    for (size_t i = server->queue.count; i > 0; i--) {
        json_t *run = record_json(server->queue.records[i - 1]);
        used += json_dumpb(run, NULL, 0, JSON_LINE) + 1;
        if (used > RUNS_BYTES) {
            json_decref(run);
            break;
        }
        json_array_insert_new(list, 0, run);
    }
    unlock(server);
    *result = list;
    return RPC_OK;
}

static int do_show(struct server *server, struct connection *connection, const json_t *params,
                   json_t **result, struct error *err)
{
    (void)connection;
    struct record *record;
    int code = lock_run(server, params, &record, err);
    if (code != RPC_OK)
        return code;
    *result = record_json_full(record);
    unlock(server);
    return RPC_OK;
}

static int do_follow(struct server *server, struct connection *connection, const json_t *params,
                     json_t **result, struct error *err)
{
    struct record *record;
    long from = 0;
    bool steps = true;
    if (!json_get_long(params, "from", 0, LONG_MAX, &from, err) ||
        !json_get_bool(params, "steps", &steps, err))
        return RPC_PARAMS;
    int code = lock_run(server, params, &record, err);
    if (code != RPC_OK)
        return code;
    long number = record->number;
    unlock(server);
    int at = 0;
    while (at < connection->follow_count && connection->follow[at].run != number)
        at++;
    if (at == CONNECTION_FOLLOWS)
        return fail(err, RPC_FAILED, "this connection follows as many runs as it may");
    if (at == connection->follow_count)
        connection->follow_count++;
    connection->follow[at] = (struct follow){number, (uint64_t)from, steps};
    server_count_followers(server);
    *result = json_object();
    return RPC_OK;
}

static int do_watch(struct server *server, struct connection *connection, const json_t *params,
                    json_t **result, struct error *err)
{
    double interval = 0.5;
    if (!json_get_double(params, "interval", 0.05, 3600, &interval, err))
        return RPC_PARAMS;
    if (!connection->watching) {
        pthread_mutex_lock(&server->queue.lock);
        connection->next_mark = server->queue.marks.next;
        unlock(server);
    }
    connection->watching = true;
    connection->interval = interval;
    connection->next_state = 0;
    connection->state_version = connection->state_changes = UINT64_MAX;
    *result = json_object();
    return RPC_OK;
}

static int do_shutdown(struct server *server, struct connection *connection, const json_t *params,
                       json_t **result, struct error *err)
{
    (void)connection;
    bool now = false;
    if (!json_get_bool(params, "now", &now, err))
        return RPC_PARAMS;
    if (!now && queue_is_busy(&server->queue))
        return fail(err, RPC_FAILED,
                    "a run goes on: stop it first, or end the engine with --now to lose it");
    server_leave(server, RUN_STOP_NOW);
    *result = json_object();
    return RPC_OK;
}

static const struct method methods[] = {
    {"hello", do_hello, NULL, false},       {"status", do_status, NULL, false},
    {"devices", NULL, task_devices, false}, {"submit", NULL, task_submit, true},
    {"stop", do_stop, NULL, false},         {"set_lr", do_set_lr, NULL, false},
    {"pause", do_pause, NULL, false},       {"resume", do_resume, NULL, false},
    {"runs", do_runs, NULL, false},         {"show", do_show, NULL, false},
    {"model", NULL, task_model, false},     {"follow", do_follow, NULL, false},
    {"watch", do_watch, NULL, false},       {"fetch", NULL, task_fetch, false},
    {"shutdown", do_shutdown, NULL, false},
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
static void call(struct server *server, struct connection *connection, json_t *request, json_t *id)
{
    const char *name = json_string_value(json_object_get(request, "method"));
    json_t *params = json_object_get(request, "params");
    const struct method *method = find_method(name);
    struct error err = ERROR_INIT;
    json_t *result = NULL;
    int code = RPC_OK;
    json_t *given = params && !json_is_null(params) ? json_incref(params) : json_object();
    if (!method) {
        error_set(&err, ERROR_USAGE, "there is no method '%.100s'", name);
        code = RPC_NO_METHOD;
    } else if (!json_is_object(given)) {
        code = fail(&err, RPC_PARAMS, "'params' must be an object");
    } else if (method->work) {
        server_start_task(server, connection, method->work, method->barrier, json_incref(id),
                          json_incref(given));
        json_decref(given);
        return;
    } else {
        code = method->answer(server, connection, given, &result, &err);
    }
    json_decref(given);
    if (code == RPC_OK && !result)
        code = fail(&err, RPC_FAILED, "out of memory");
    if (!id)
        json_decref(result);
    else if (code == RPC_OK)
        connection_put_result(connection, id, result);
    else
        connection_put_error(connection, id, code, err.text);
}

void server_handle_line(struct server *server, struct connection *connection, const char *line,
                        size_t length)
{
    json_error_t where;
    json_t *request = json_loadb(line, length, JSON_DECODE_ANY, &where);
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
        call(server, connection, request, id);
    json_decref(request);
}
