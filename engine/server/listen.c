/* SPDX-License-Identifier: MIT */
#include "engine/server/listen.h"

/* Seconds between looks: shorter than it takes to log in and start a viewer. */
#define CHECK_INTERVAL 2.0

static void listen_again(struct server *server)
{
    struct error err = ERROR_INIT;
    struct engine_log *log = &server->log;
    listener_close(&server->listener);
    listener_release(&server->listener);
    bool found = listener_open(&server->listener, log, 0, NULL, &err);
    if (found)
        engine_log(log, MESSAGE_WARNING, 0, "the socket was gone: listening at %s",
                   server->listener.address.sun_path);
    else if (!server->unfound)
        engine_log(log, MESSAGE_ERROR, 0, "viewers cannot find this engine any more: %s", err.text);
    server->unfound = !found;
}

void server_check_socket(struct server *server, double now)
{
    if (server->options->private_fd >= 0 || server->leaving || now < server->check_socket)
        return;
    server->check_socket = now + CHECK_INTERVAL;
    if (!listener_is_found(&server->listener))
        listen_again(server);
    if (server->unfound && !server->connection_count && !queue_is_busy(&server->queue))
        server_leave(server, RUN_STOP_STEP);
}
