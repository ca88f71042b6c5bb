/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/server/server_state.h"

/* Requests of one viewer that are handled before it is the others' turn. */
#define LINES_PER_TURN 32
/* Of the machine's time, for requests while a run goes on; and how many seconds may be saved up. */
#define REQUEST_SHARE 0.01
#define REQUEST_SAVED 0.1
/* How long a private engine whose viewer is gone waits for its devices. */
#define PRIVATE_GRACE 2.0

bool server_add_connection(struct server *server, int fd, struct error *err)
{
    struct connection *connection = connection_new(fd, ++server->last_connection);
    if (!connection) {
        close(fd);
        return error_memory(err, "connection");
    }
    server->connections[server->connection_count++] = connection;
    return true;
}

void server_accept_connections(struct server *server, double now)
{
    struct error err = ERROR_INIT;
    for (int i = 0; i < CONNECTION_LIMIT; i++) {
        int fd = listener_accept(&server->listener);
        if (fd < 0) {
            /* Out of descriptors, the socket stays readable: look again later, not at once. */
            if (errno != EAGAIN && errno != EWOULDBLOCK && errno != ECONNABORTED && errno != EINTR)
                server->accept_again = now + 1;
            return;
        }
        if (server->connection_count < CONNECTION_LIMIT) {
            if (!server_add_connection(server, fd, &err))
                engine_log(&server->log, MESSAGE_WARNING, 0, "%s", err.text);
            continue;
        }
        struct connection *refused = connection_new(fd, 0);
        if (!refused) {
            close(fd);
            continue;
        }
        connection_put_error(refused, NULL, RPC_FAILED, "the engine has as many viewers as it may");
        connection_flush(refused);
        connection_free(refused);
    }
}

void server_drop_connection(struct server *server, int index)
{
    struct connection *connection = server->connections[index];
    for (struct task *task = server->tasks; task; task = task->next)
        if (task->connection == connection->id)
            atomic_store(&task->cancelled, true);
    connection_free(connection);
    server->connections[index] = server->connections[--server->connection_count];
    server_count_followers(server);
    if (server->options->private_fd >= 0) {
        server_leave(server, RUN_STOP_NOW);
        server->leave_by = clock_seconds() + PRIVATE_GRACE;
    }
}

static struct connection *find_connection(struct server *server, uint64_t id)
{
    for (int i = 0; i < server->connection_count; i++)
        if (server->connections[i]->id == id)
            return server->connections[i];
    return NULL;
}

void server_start_task(struct server *server, struct connection *connection, task_work *work,
                       bool barrier, json_t *id, json_t *params)
{
    struct task like = {.next = server->tasks,
                        .work = work,
                        .queue = &server->queue,
                        .nvml = server->nvml,
                        .survey = server->survey,
                        .connection = connection->id,
                        .barrier = barrier,
                        .id = id,
                        .params = params,
                        .changed = server_wake,
                        .context = server};
    struct error err = ERROR_INIT;
    json_t *answer_to = json_incref(id);
    struct task *task = NULL;
    if (server->leaving || server->task_count >= TASK_LIMIT ||
        connection->tasks >= TASK_LIMIT_PER_CONNECTION) {
        error_set(&err, ERROR_FAILED,
                  server->leaving ? "the engine is about to end"
                                  : "too many requests are at work: wait for one to end");
        json_decref(id);
        json_decref(params);
    } else if (task_start(&like, &task, &err)) {
        server->tasks = task;
        server->task_count++;
        connection->tasks++;
        connection->barrier |= barrier;
    }
    if (!task && answer_to)
        connection_put_error(connection, answer_to, RPC_FAILED, err.text);
    json_decref(answer_to);
}

static void answer_task(struct connection *connection, struct task *task)
{
    connection->tasks--;
    if (task->barrier)
        connection->barrier = false;
    if (!task->id)
        return;
    if (task->ok)
        connection_put_result(connection, task->id, json_incref(task->result));
    else
        connection_put_error(connection, task->id,
                             task->err.kind == ERROR_USAGE ? RPC_PARAMS : RPC_FAILED,
                             task->err.text);
}

void server_serve_tasks(struct server *server)
{
    struct task **at = &server->tasks;
    while (*at) {
        struct task *task = *at;
        struct connection *connection = find_connection(server, task->connection);
        bool finished = atomic_load(&task->finished);
        json_t *params;
        if (connection && !connection->out.length && task_take_progress(task, &params))
            connection_put(connection, json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method",
                                                 "fetch", "params", params));
        if (!finished) {
            at = &task->next;
            continue;
        }
        *at = task->next;
        server->task_count--;
        if (connection)
            answer_task(connection, task);
        task_finish(task);
    }
}

static void handle_lines(struct server *server, struct connection *connection)
{
    for (int i = 0; i < LINES_PER_TURN && connection_accepts(connection); i++) {
        size_t length;
        char *line = connection_line(connection, &length);
        if (!line)
            return;
        server_handle_line(server, connection, line, length);
        connection_drop_line(connection, length);
    }
}

double server_processor_seconds(void)
{
    struct timespec spent;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return (double)spent.tv_sec + 1e-9 * (double)spent.tv_nsec;
}

static bool is_training(struct server *server)
{
    pthread_mutex_lock(&server->queue.lock);
    bool yes = server->queue.current != NULL;
    pthread_mutex_unlock(&server->queue.lock);
    return yes;
}

double server_requests_wait(struct server *server, double now)
{
    struct request_budget *budget = &server->budget;
    double rate = REQUEST_SHARE * (server->cpu_count > 0 ? server->cpu_count : 1);
    budget->seconds += rate * (now - budget->counted);
    budget->counted = now;
    if (budget->seconds > REQUEST_SAVED || (budget->seconds < 0 && !is_training(server)))
        budget->seconds = REQUEST_SAVED;
    return budget->seconds < 0 ? now - budget->seconds / rate : 0;
}

void server_take_requests(struct server *server, struct connection *connection, bool readable)
{
    if (server->budget.seconds < 0)
        return;
    double before = server_processor_seconds();
    if (readable)
        connection_read(connection);
    handle_lines(server, connection);
    connection_flush(connection);
    server->budget.seconds -= server_processor_seconds() - before;
}

/* Could server_take_requests go on without reading? */
bool server_has_lines(const struct connection *connection)
{
    return connection_accepts(connection) && connection->in_scanned < connection->in.length;
}
