/* SPDX-License-Identifier: MIT */
#include "engine/server/requests.h"

#include "engine/server/protocol/methods.h"
#include "engine/server/viewers/costs.h"

/* Requests of one viewer that are handled before it is the others' turn, and of all in a round. */
#define LINES_PER_TURN  32
#define LINES_PER_ROUND 64

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

bool server_has_lines(const struct connection *connection)
{
    return connection_accepts(connection) && connection->in_scanned < connection->in.length;
}
