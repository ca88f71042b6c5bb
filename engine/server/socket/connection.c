/* SPDX-License-Identifier: MIT */
#include "engine/server/socket/connection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "system/local_socket.h"

#define READ_SIZE ((size_t)16 << 10)

struct connection *connection_new(int fd, uint64_t id)
{
    struct connection *connection = calloc(1, sizeof *connection);
    if (!connection)
        return NULL;
    connection->fd = fd;
    connection->id = id;
    connection->since = connection->active = clock_seconds();
    return connection;
}

void connection_free(struct connection *connection)
{
    if (!connection)
        return;
    close(connection->fd);
    json_decref(connection->waiting.id);
    json_decref(connection->waiting.params);
    text_free(&connection->in);
    text_free(&connection->out);
    free(connection);
}

void connection_read(struct connection *connection)
{
    char buffer[READ_SIZE];
    ssize_t got = recv(connection->fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got > 0) {
        text_append(&connection->in, buffer, (size_t)got);
        connection->lost |= connection->in.failed;
    } else if (got == 0) {
        connection->input_ended = true;
    } else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
        connection->lost = true;
    }
}

char *connection_line(struct connection *connection, size_t *length)
{
    struct text *in = &connection->in;
    char *newline =
        in->length > connection->in_scanned
            ? memchr(in->data + connection->in_scanned, '\n', in->length - connection->in_scanned)
            : NULL;
    *length = newline ? (size_t)(newline - in->data) : in->length;
    if (*length > PROTOCOL_LINE_LIMIT) {
        connection_put_error(connection, NULL, RPC_NO_REQUEST, "a line longer than 1 MiB");
        connection->close_flushed = true;
        return NULL;
    }
    if (!newline) {
        connection->in_scanned = in->length;
        return NULL;
    }
    *newline = '\0';
    return in->data;
}

void connection_drop_line(struct connection *connection, size_t length)
{
    text_consume(&connection->in, length + 1);
    connection->asked = true;
    connection->active = clock_seconds();
    connection->in_scanned = 0;
}

void connection_flush(struct connection *connection)
{
    size_t sent = 0;
    struct text *out = &connection->out;
    while (sent < out->length) {
        ssize_t put =
            send(connection->fd, out->data + sent, out->length - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (put >= 0) {
            sent += (size_t)put;
        } else if (errno != EINTR) {
            connection->lost |= errno != EAGAIN && errno != EWOULDBLOCK;
            break;
        }
    }
    if (sent)
        connection->active = clock_seconds();
    text_consume(out, sent);
    /* A large answer must not occupy its space for the rest of the connection's life. */
    if (!out->length && out->capacity > CONNECTION_OUT_BUSY)
        text_free(out);
}

/* After half a line that memory did not suffice for nothing is added any more. */
static void put_text(struct connection *connection, const char *text, size_t length)
{
    if (connection->lost)
        return;
    text_append(&connection->out, text, length);
}

static void put_end(struct connection *connection)
{
    put_text(connection, "\n", 1);
    connection->lost |= connection->out.failed;
}

void connection_put(struct connection *connection, json_t *message)
{
    char *line = message ? json_to_text(message, JSON_LINE) : NULL;
    json_decref(message);
    if (!line) {
        connection->lost = true; /* out of memory: its own end, nobody else's */
        return;
    }
    put_text(connection, line, strlen(line));
    put_end(connection);
    free(line);
}

void connection_put_event(struct connection *connection, const char *params, size_t length)
{
    static const char head[] = "{\"jsonrpc\":\"2.0\",\"method\":\"event\",\"params\":";
    put_text(connection, head, sizeof head - 1);
    put_text(connection, params, length);
    put_text(connection, "}", 1);
    put_end(connection);
}

void connection_put_result(struct connection *connection, json_t *id, json_t *result)
{
    connection_put(connection,
                   json_pack("{s:s, s:O?, s:o}", "jsonrpc", "2.0", "id", id, "result", result));
}

void connection_put_error(struct connection *connection, json_t *id, int code, const char *text)
{
    json_t *message = json_any_text(text); /* it may quote anything */
    json_t *safe_id = id ? json_incref(id) : json_null();
    connection_put(connection, json_pack("{s:s, s:o, s:{s:i, s:o}}", "jsonrpc", "2.0", "id",
                                         safe_id, "error", "code", code, "message", message));
}

bool connection_accepts(const struct connection *connection)
{
    return !connection->lost && !connection->close_flushed && !connection->in_order &&
           !connection->waiting.work && connection->out.length < CONNECTION_OUT_BUSY;
}

bool connection_is_over(const struct connection *connection)
{
    if (connection->lost)
        return true;
    if (connection->out.length)
        return false;
    return connection->close_flushed ||
           (connection->input_ended && !connection->tasks && !connection->waiting.work &&
            !connection->follow_count && !connection->watching);
}
