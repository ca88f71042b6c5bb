/* SPDX-License-Identifier: MIT */
#include "engine/server/viewers/parts.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "engine/server/queue/runner.h"

void server_wake(void *context)
{
    struct server *server = context;
    uint64_t one = 1;
    if (!atomic_exchange(&server->wake_set, true) && server->wake_fd >= 0 &&
        write(server->wake_fd, &one, sizeof one) < 0 && errno != EAGAIN)
        engine_log(&server->log, MESSAGE_WARNING, 0, "cannot wake the server's thread: %s",
                   strerror(errno));
}

json_t *server_trouble_json(const struct server *server)
{
    return *server->trouble ? json_any_text(server->trouble) : json_null();
}

/* A connection that ends after this was not lost. */
static void say_leaving(struct server *server)
{
    for (int i = 0; i < server->connection_count; i++)
        if (server->connections[i]->watching)
            connection_put(server->connections[i], json_pack("{s:s, s:s, s:{}}", "jsonrpc", "2.0",
                                                             "method", "leaving", "params"));
}

void server_leave(struct server *server, enum run_stop how)
{
    if (!server->leaving) {
        engine_log(&server->log, MESSAGE_INFO, 0, "the engine is about to end");
        say_leaving(server);
    }
    server->leaving = true;
    listener_close(&server->listener);
    queue_leave(&server->queue, how);
    for (struct task *task = server->tasks; task; task = task->next)
        atomic_store(&task->cancelled, true);
}
