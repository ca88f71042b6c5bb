/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/server/server_state.h"

/* Requests of one viewer that are handled before it is the others' turn. */
#define LINES_PER_TURN 32
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

static bool is_training(struct server *server)
{
    pthread_mutex_lock(&server->queue.lock);
    const struct record *current = server->queue.current;
    bool yes = current && !atomic_load(&current->control.paused);
    pthread_mutex_unlock(&server->queue.lock);
    return yes;
}

void server_pay(struct server *server, double now)
{
    struct budget *budget = &server->budget;
    server_charge_tasks(server);
    budget_pay(budget, now);
    bool used_up = !budget_allows(budget, BUDGET_ANSWERS) || !budget_allows(budget, BUDGET_WORK);
    if (used_up && !is_training(server))
        budget_forgive(budget);
}

void server_forget_costs(struct server *server)
{
    server->charged = clock_thread_seconds();
}

void server_charge_costs(struct server *server, enum budget_part part)
{
    double now = clock_thread_seconds();
    budget_charge(&server->budget, part, now - server->charged);
    server->charged = now;
}

bool server_take_requests(struct server *server, struct connection *connection, bool readable)
{
    if (!budget_allows(&server->budget, BUDGET_ANSWERS) ||
        (!readable && !server_has_lines(connection)))
        return false;
    if (readable)
        connection_read(connection);
    handle_lines(server, connection);
    connection_flush(connection);
    server_charge_costs(server, BUDGET_ANSWERS);
    return true;
}

/* Could server_take_requests go on without reading? */
bool server_has_lines(const struct connection *connection)
{
    return connection_accepts(connection) && connection->in_scanned < connection->in.length;
}
