/* SPDX-License-Identifier: MIT */
#include "engine/server/protocol/ask.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "engine/server/queue/resume.h"
#include "engine/server/record/json.h"
#include "engine/server/viewers/notify.h"
#include "system/affinity.h"
#include "system/local_socket.h"
#include "system/priority.h"

int method_hello(struct method_call *call)
{
    const char *version = NULL;
    if (!json_get_string(call->params, "version", &version, call->err))
        return RPC_PARAMS;
    call->result = json_pack("{s:s, s:i, s:i}", "version", call->server->options->version, "pid",
                             (int)getpid(), "protocol", PROTOCOL_VERSION);
    return RPC_OK;
}

int method_status(struct method_call *call)
{
    struct gpu_findings findings;
    char *cpus = affinity_text();
    nvml_read(call->server->nvml, &call->server->gpus);
    gpu_survey_read(call->server->survey, &findings);
    pthread_mutex_lock(&call->server->queue.lock);
    const struct record *current = queue_running(&call->server->queue);
    call->result = json_pack("{s:b, s:i, s:s, s:o, s:o, s:i, s:s?, s:b, s:o}", "running", 1, "pid",
                             (int)getpid(), "version", call->server->options->version, "run",
                             current ? json_integer(current->number) : json_null(), "no_gpus",
                             no_gpus_json(&findings, &call->server->gpus), "nice", priority_nice(),
                             "cpus", cpus, "limited", call->server->options->limited, "store",
                             server_trouble_json(call->server));
    method_unlock(call->server);
    free(cpus);
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

int method_runs(struct method_call *call)
{
    long limit = LONG_MAX;
    if (!json_get_long(call->params, "limit", 1, LONG_MAX, &limit, call->err))
        return RPC_PARAMS;
    json_t *all = json_array();
    pthread_mutex_lock(&call->server->queue.lock);
    size_t count = call->server->queue.count;
    for (size_t i = count > (size_t)limit ? count - (size_t)limit : 0; i < count; i++)
        json_array_append_new(all, record_json(call->server->queue.records[i]));
    method_unlock(call->server);
    /* The current run does not wait for the rest. */
    call->result = newest_that_fit(all);
    if (limit == LONG_MAX)
        call->server->left_out = (long)(json_array_size(all) - json_array_size(call->result));
    json_decref(all);
    return RPC_OK;
}

int method_show(struct method_call *call)
{
    struct record *record;
    int code = method_lock_run(call, &record);
    if (code != RPC_OK)
        return code;
    if (queue_load(&call->server->queue, record, call->err))
        call->result = record_json_full(record);
    else
        code = RPC_FAILED;
    if (call->result)
        json_object_set_new(call->result, "checkpoint",
                            queue_checkpoint_json(&call->server->queue, record));
    method_unlock(call->server);
    return code;
}

int method_log(struct method_call *call)
{
    long limit = ENGINE_LOG_KEPT;
    if (!json_get_long(call->params, "limit", 1, LONG_MAX, &limit, call->err))
        return RPC_PARAMS;
    call->result = engine_log_newest(&call->server->log, (uint64_t)limit);
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

int method_follow(struct method_call *call)
{
    struct connection *connection = call->connection;
    struct record *record;
    long from = 0;
    bool steps = true;
    if (!json_get_long(call->params, "from", 0, LONG_MAX, &from, call->err) ||
        !json_get_bool(call->params, "steps", &steps, call->err))
        return RPC_PARAMS;
    int code = method_lock_run(call, &record);
    if (code != RPC_OK)
        return code;
    long number = record->number;
    bool brought = queue_load(&call->server->queue, record, call->err);
    method_unlock(call->server);
    if (!brought)
        return RPC_FAILED;
    int at = 0;
    while (at < connection->follow_count && connection->follow[at].run != number)
        at++;
    if (at == CONNECTION_FOLLOWS)
        return method_fail(call->err, RPC_FAILED, "this connection follows as many runs as it may");
    if (!may_subscribe(call->server, connection, call->err))
        return RPC_FAILED;
    if (at == connection->follow_count)
        connection->follow_count++;
    connection->follow[at] = (struct follow){number, (uint64_t)from, steps};
    server_count_followers(call->server);
    call->result = json_object();
    return RPC_OK;
}

/* Those that a crash has left and that are still as it left them, once. */
static json_t *take_interrupted(struct server *server)
{
    json_t *numbers = server->interrupted, *left = json_array(), *number;
    size_t index;
    server->interrupted = NULL;
    pthread_mutex_lock(&server->queue.lock);
    json_array_foreach(numbers, index, number)
    {
        const struct record *record = queue_find(&server->queue, (long)json_integer_value(number));
        if (record && record->status == RUN_INTERRUPTED)
            json_array_append(left, number);
    }
    pthread_mutex_unlock(&server->queue.lock);
    json_decref(numbers);
    return left;
}

int method_watch(struct method_call *call)
{
    struct connection *connection = call->connection;
    double interval = 0.5;
    bool interrupted = false;
    if (!json_get_double(call->params, "interval", 0.05, 3600, &interval, call->err) ||
        !json_get_bool(call->params, "interrupted", &interrupted, call->err))
        return RPC_PARAMS;
    if (!may_subscribe(call->server, connection, call->err))
        return RPC_FAILED;
    if (!connection->watching) {
        pthread_mutex_lock(&call->server->queue.lock);
        connection->next_mark = call->server->queue.marks.next;
        method_unlock(call->server);
        connection->next_message = engine_log_next(&call->server->log);
    }
    connection->watching = true;
    connection->interval = interval;
    connection->next_state = 0;
    connection->state_version = connection->state_changes = UINT64_MAX;
    call->result = json_object();
    if (interrupted && call->server->interrupted)
        json_object_set_new(call->result, "interrupted", take_interrupted(call->server));
    return RPC_OK;
}

int method_shutdown(struct method_call *call)
{
    bool now = false;
    if (!json_get_bool(call->params, "now", &now, call->err))
        return RPC_PARAMS;
    if (!now && queue_is_busy(&call->server->queue))
        return method_fail(
            call->err, RPC_FAILED,
            "a run is running or waiting: stop it first, or end the engine with --now");
    server_leave(call->server, RUN_STOP_NOW);
    call->result = json_object();
    return RPC_OK;
}
