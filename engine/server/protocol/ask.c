/* SPDX-License-Identifier: MIT */
#include "engine/server/protocol/ask.h"

#include <limits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "engine/server/queue/resume.h"
#include "engine/server/record/json.h"
#include "engine/server/viewers/notify.h"
#include "system/local_socket.h"

int method_hello(struct server *server, struct connection *connection, const json_t *params,
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

int method_status(struct server *server, struct connection *connection, const json_t *params,
                  json_t **result, struct error *err)
{
    (void)connection;
    (void)params;
    (void)err;
    struct gpu_findings findings;
    nvml_read(server->nvml, &server->gpus);
    gpu_survey_read(server->survey, &findings);
    pthread_mutex_lock(&server->queue.lock);
    const struct record *current = queue_running(&server->queue);
    *result = json_pack("{s:b, s:i, s:s, s:o, s:o}", "running", 1, "pid", (int)getpid(), "version",
                        server->options->version, "run",
                        current ? json_integer(current->number) : json_null(), "no_gpus",
                        no_gpus_json(&findings, &server->gpus));
    method_unlock(server);
    return RPC_OK;
}

/* A response is one line: the oldest runs are left out where there are too many for it. */
#define RUNS_BYTES ((size_t)PROTOCOL_LINE_LIMIT - 4096)

static json_t *newest_that_fit(const json_t *all)
{
    json_t *list = json_array();
    size_t first = json_array_size(all), used = 0;
    for (; first > 0; first--) {
        used += json_length(json_array_get(all, first - 1), JSON_LINE) + 1;
        if (used > RUNS_BYTES)
            break;
    }
    for (size_t i = first; i < json_array_size(all); i++)
        json_array_append(list, json_array_get(all, i));
    return list;
}

int method_runs(struct server *server, struct connection *connection, const json_t *params,
                json_t **result, struct error *err)
{
    (void)connection;
    long limit = LONG_MAX;
    if (!json_get_long(params, "limit", 1, LONG_MAX, &limit, err))
        return RPC_PARAMS;
    json_t *all = json_array();
    pthread_mutex_lock(&server->queue.lock);
    size_t count = server->queue.count;
    for (size_t i = count > (size_t)limit ? count - (size_t)limit : 0; i < count; i++)
        json_array_append_new(all, record_json(server->queue.records[i]));
    method_unlock(server);
    /* The current run does not wait for the rest. */
    *result = newest_that_fit(all);
    json_decref(all);
    return RPC_OK;
}

int method_show(struct server *server, struct connection *connection, const json_t *params,
                json_t **result, struct error *err)
{
    (void)connection;
    struct record *record;
    int code = method_lock_run(server, params, &record, err);
    if (code != RPC_OK)
        return code;
    if (queue_load(&server->queue, record, err))
        *result = record_json_full(record);
    else
        code = RPC_FAILED;
    if (*result)
        json_object_set_new(*result, "checkpoint", queue_checkpoint_json(&server->queue, record));
    method_unlock(server);
    return code;
}

int method_log(struct server *server, struct connection *connection, const json_t *params,
               json_t **result, struct error *err)
{
    (void)connection;
    long limit = ENGINE_LOG_KEPT;
    if (!json_get_long(params, "limit", 1, LONG_MAX, &limit, err))
        return RPC_PARAMS;
    *result = engine_log_newest(&server->log, (uint64_t)limit);
    return RPC_OK;
}

/* Places are left for commands; a subscriber that has stopped reading makes room for another. */
static bool may_subscribe(struct server *server, const struct connection *who, struct error *err)
{
    struct connection *stalled;
    if (!places_may_subscribe(server->connections, server->connection_count, who, clock_seconds(),
                              &stalled))
        return error_set(err, ERROR_FAILED,
                         "%d workbenches and commands are following already, as many as may: end "
                         "one of them",
                         SUBSCRIBER_LIMIT);
    if (stalled)
        stalled->lost = true;
    return true;
}

int method_follow(struct server *server, struct connection *connection, const json_t *params,
                  json_t **result, struct error *err)
{
    struct record *record;
    long from = 0;
    bool steps = true;
    if (!json_get_long(params, "from", 0, LONG_MAX, &from, err) ||
        !json_get_bool(params, "steps", &steps, err))
        return RPC_PARAMS;
    int code = method_lock_run(server, params, &record, err);
    if (code != RPC_OK)
        return code;
    long number = record->number;
    bool brought = queue_load(&server->queue, record, err);
    method_unlock(server);
    if (!brought)
        return RPC_FAILED;
    int at = 0;
    while (at < connection->follow_count && connection->follow[at].run != number)
        at++;
    if (at == CONNECTION_FOLLOWS)
        return method_fail(err, RPC_FAILED, "this connection follows as many runs as it may");
    if (!may_subscribe(server, connection, err))
        return RPC_FAILED;
    if (at == connection->follow_count)
        connection->follow_count++;
    connection->follow[at] = (struct follow){number, (uint64_t)from, steps};
    server_count_followers(server);
    *result = json_object();
    return RPC_OK;
}

int method_watch(struct server *server, struct connection *connection, const json_t *params,
                 json_t **result, struct error *err)
{
    double interval = 0.5;
    if (!json_get_double(params, "interval", 0.05, 3600, &interval, err))
        return RPC_PARAMS;
    if (!may_subscribe(server, connection, err))
        return RPC_FAILED;
    if (!connection->watching) {
        pthread_mutex_lock(&server->queue.lock);
        connection->next_mark = server->queue.marks.next;
        method_unlock(server);
        connection->next_message = engine_log_next(&server->log);
    }
    connection->watching = true;
    connection->interval = interval;
    connection->next_state = 0;
    connection->state_version = connection->state_changes = UINT64_MAX;
    *result = json_object();
    return RPC_OK;
}

int method_shutdown(struct server *server, struct connection *connection, const json_t *params,
                    json_t **result, struct error *err)
{
    (void)connection;
    bool now = false;
    if (!json_get_bool(params, "now", &now, err))
        return RPC_PARAMS;
    if (!now && queue_is_busy(&server->queue))
        return method_fail(
            err, RPC_FAILED,
            "a run is running or waiting: stop it first, or end the engine with --now");
    server_leave(server, RUN_STOP_NOW);
    *result = json_object();
    return RPC_OK;
}
