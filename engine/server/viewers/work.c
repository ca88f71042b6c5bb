/* SPDX-License-Identifier: MIT */
#include "engine/server/viewers/work.h"

#include "engine/server/viewers/costs.h"

/*
 * Seconds of the processor that a request is charged when it starts, in advance: so that not all
 * that wait for the budget start together. About what the costly ones of good viewers need.
 */
#define ADVANCE 0.002

/* What it costs in addition to what its thread can count: that a thread is made, and gone. */
#define THREAD_SECONDS 1e-4

static struct connection *find_connection(struct server *server, uint64_t id)
{
    for (int i = 0; i < server->connection_count; i++)
        if (server->connections[i]->id == id)
            return server->connections[i];
    return NULL;
}

static bool may_start(const struct server *server, const struct connection *connection,
                      const struct request *request, struct error *err)
{
    if (server->leaving)
        return error_set(err, ERROR_FAILED, "the engine is about to end");
    if (server->task_count >= TASK_LIMIT || connection->tasks >= TASK_LIMIT_PER_CONNECTION)
        return error_set(err, ERROR_FAILED,
                         "too many requests are being answered: wait for one to end");
    for (const struct task *task = server->tasks; request->alone && task; task = task->next)
        if (task->request.work == request->work)
            return error_set(err, ERROR_FAILED,
                             "another request to %s is in progress: wait for its end",
                             request->method);
    return true;
}

static void start(struct server *server, struct connection *connection,
                  const struct request *request)
{
    struct task like = {.next = server->tasks,
                        .request = *request,
                        .queue = &server->queue,
                        .nvml = server->nvml,
                        .survey = server->survey,
                        .connection = connection->id,
                        .charged = ADVANCE,
                        .changed = server_wake,
                        .context = server};
    struct error err = ERROR_INIT;
    json_t *answer_to = json_incref(request->id);
    struct task *task = NULL;
    if (!may_start(server, connection, request, &err)) {
        json_decref(request->id);
        json_decref(request->params);
    } else if (task_start(&like, &task, &err)) {
        server->tasks = task;
        server->task_count++;
        connection->tasks++;
        connection->in_order |= request->in_order;
        if (!request->alone)
            budget_charge(&server->budget, BUDGET_WORK, ADVANCE);
    }
    if (!task && answer_to)
        connection_put_error(connection, answer_to, RPC_FAILED, err.text);
    json_decref(answer_to);
}

void server_take_work(struct server *server, struct connection *connection,
                      const struct request *request)
{
    if (server->leaving || request->alone || budget_allows(&server->budget, BUDGET_WORK))
        start(server, connection, request);
    else
        connection->waiting = *request;
}

bool server_start_waiting(struct server *server, struct connection *connection)
{
    const struct request request = connection->waiting;
    if (!request.work || !(server->leaving || budget_allows(&server->budget, BUDGET_WORK)))
        return false;
    connection->waiting = (struct request){.work = NULL};
    start(server, connection, &request);
    return true;
}

/* After the end of the task what it did not use of the advance is refunded. */
static void charge_task(struct server *server, struct task *task, bool finished)
{
    if (task->request.alone)
        return;
    double seconds = THREAD_SECONDS + task_seconds(task);
    if (!finished && seconds <= task->charged)
        return;
    budget_charge(&server->budget, BUDGET_WORK, seconds - task->charged);
    task->charged = seconds;
}

void server_charge_tasks(struct server *server)
{
    for (struct task *task = server->tasks; task; task = task->next)
        charge_task(server, task, false);
}

static void answer_task(struct connection *connection, struct task *task)
{
    connection->tasks--;
    if (task->request.in_order)
        connection->in_order = false;
    if (!task->request.id)
        return;
    if (task->ok)
        connection_put_result(connection, task->request.id, json_incref(task->result));
    else
        connection_put_error(connection, task->request.id,
                             task->err.kind == ERROR_USAGE ? RPC_PARAMS : RPC_FAILED,
                             task->err.text);
}

void server_serve_tasks(struct server *server)
{
    bool answered = false;
    struct task **at = &server->tasks;
    while (*at) {
        struct task *task = *at;
        struct connection *connection = find_connection(server, task->connection);
        bool finished = atomic_load(&task->finished);
        json_t *progress = connection && !connection->out.length ? task_take_progress(task) : NULL;
        if (progress)
            connection_put(connection, json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method",
                                                 task->request.method, "params", progress));
        if (!finished) {
            at = &task->next;
            continue;
        }
        *at = task->next;
        server->task_count--;
        charge_task(server, task, true);
        if (connection)
            answer_task(connection, task);
        task_finish(task);
        answered = true;
    }
    if (answered)
        server_charge_costs(server, BUDGET_WORK);
}
