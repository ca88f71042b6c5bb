/* SPDX-License-Identifier: MIT */
#include "engine/server/viewers/connections.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/server/viewers/notify.h"

/* When no connection can make room for a new viewer: seconds until the next look. */
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
