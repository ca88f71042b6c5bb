/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/server/server_state.h"

/* Requests of one viewer that are handled before it is the others' turn, and of all in a round. */
#define LINES_PER_TURN  32
#define LINES_PER_ROUND 64
/* When nobody can make room for a new viewer: seconds until the next look. */
#define PLACE_INTERVAL 0.05
/* Seconds between messages of the log that all places are taken. */
#define FULL_INTERVAL 60.0
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

static bool another_waits(const struct server *server)
{
    struct pollfd wait = {.fd = server->listener.fd, .events = POLLIN};
    return poll(&wait, 1, 0) > 0;
}

/* False: whoever has a place may keep it for now, and new ones wait in the socket's queue. */
static bool make_place(struct server *server, double now)
{
    int index = places_victim(server->connections, server->connection_count, now);
    if (index < 0)
        return false;
    if (now >= server->say_full) {
        engine_log(&server->log, MESSAGE_WARNING, 0,
                   "all %d places are taken: connections without requests make room",
                   CONNECTION_LIMIT);
        server->say_full = now + FULL_INTERVAL;
    }
    struct connection *victim = server->connections[index];
    connection_put_error(victim, NULL, RPC_NO_PLACE,
                         "dropped: all places were taken and this connection was idle; connect "
                         "again to ask something");
    connection_flush(victim);
    server_drop_connection(server, index);
    return true;
}

void server_accept_connections(struct server *server, double now)
{
    struct error err = ERROR_INIT;
    for (int i = 0; i < CONNECTION_LIMIT; i++) {
        if (server->connection_count == CONNECTION_LIMIT) {
            if (!another_waits(server))
                return;
            if (!make_place(server, now)) {
                server->accept_again = now + PLACE_INTERVAL;
                return;
            }
        }
        int fd = listener_accept(&server->listener);
        if (fd < 0) {
            /* Out of descriptors, the socket stays readable: look again later, not at once. */
            if (errno != EAGAIN && errno != EWOULDBLOCK && errno != ECONNABORTED && errno != EINTR)
                server->accept_again = now + 1;
            return;
        }
        if (!server_add_connection(server, fd, &err))
            engine_log(&server->log, MESSAGE_WARNING, 0, "%s", err.text);
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

static int lines_per_turn(const struct server *server)
{
    int share = LINES_PER_ROUND / server->connection_count;
    return share < 1 ? 1 : share < LINES_PER_TURN ? share : LINES_PER_TURN;
}

static void handle_lines(struct server *server, struct connection *connection)
{
    const int lines = lines_per_turn(server);
    for (int i = 0; i < lines && connection_accepts(connection); i++) {
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
