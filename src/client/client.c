/* SPDX-License-Identifier: MIT */
#include "client/client.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/json.h"
#include "client/peer.h"
#include "client/state.h"
#include "system/local_socket.h"

#define OUTPUT_LIMIT ((size_t)4 << 20)
#define READ_SIZE    ((size_t)64 << 10)

pid_t client_engine(const struct client *client)
{
    if (client->line)
        return 0;
    return client->child > 0 ? client->child : peer_of_socket(client->fd);
}

bool client_is_lost(const struct client *client)
{
    return client->lost;
}

const char *client_host(const struct client *client)
{
    return client->line ? client->line->host : NULL;
}

enum line_end client_line_end(const struct client *client)
{
    return client->end;
}

const char *client_line_why(const struct client *client)
{
    return client->line ? client->line->why : "";
}

struct pollfd client_poll(const struct client *client)
{
    return (struct pollfd){.fd = client->fd,
                           .events = (short)(POLLIN | (client->out.length ? POLLOUT : 0))};
}

static bool connection_lost(struct client *client, struct error *err)
{
    const bool again = client->lost;
    client->lost = true;
    if (client->line && !again) {
        client->end = line_ended(client->line, err);
        return false;
    }
    return error_set(err, ERROR_FAILED,
                     "the connection to the engine is lost: 'dpartui engine status' tells whether "
                     "it still runs");
}

static bool flush_output(struct client *client, struct error *err)
{
    size_t sent = 0;
    bool ok = true;
    while (ok && sent < client->out.length) {
        ssize_t put = send(client->fd, client->out.data + sent, client->out.length - sent,
                           MSG_NOSIGNAL | MSG_DONTWAIT);
        if (put >= 0)
            sent += (size_t)put;
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            break;
        else if (errno == EPIPE || errno == ECONNRESET)
            sent = client->out.length; /* the engine may have said why before it closed */
        else if (errno != EINTR)
            ok = connection_lost(client, err);
    }
    text_consume(&client->out, sent);
    return ok;
}

static bool queue_request(struct client *client, const char *method, json_t *params, long *id,
                          struct error *err)
{
    json_t *request = json_pack("{s:s, s:I, s:s}", "jsonrpc", "2.0", "id",
                                (json_int_t)client->last_id + 1, "method", method);
    bool ok = request && (!params || json_object_set(request, "params", params) == 0);
    char *line = ok ? json_to_text(request, JSON_LINE) : NULL;
    json_decref(request);
    json_decref(params);
    if (!line)
        return error_memory(err, method);
    size_t length = strlen(line);
    if (length > PROTOCOL_LINE_LIMIT) {
        ok = error_set(err, ERROR_USAGE, "%s: the request is longer than 1 MiB", method);
    } else if (client->out.length + length >= OUTPUT_LIMIT) {
        ok = error_set(err, ERROR_FAILED, "the engine does not read its requests: is it stopped?");
    } else {
        text_append(&client->out, line, length);
        text_puts(&client->out, "\n");
        ok = !client->out.failed || error_memory(err, method);
    }
    free(line);
    if (ok)
        *id = ++client->last_id;
    return ok;
}

bool client_send(struct client *client, const char *method, json_t *params, long *id,
                 struct error *err)
{
    return queue_request(client, method, params, id, err) && flush_output(client, err);
}

/* Take the next whole line out of `in`; *message stays NULL when there is none. */
static bool take_line(struct client *client, json_t **message, struct error *err)
{
    struct text *in = &client->in;
    const char *newline =
        in->length > client->in_scanned
            ? memchr(in->data + client->in_scanned, '\n', in->length - client->in_scanned)
            : NULL;
    if (!newline) {
        /* The room for a long list of runs is not kept for the short lines that follow. */
        if (client->in_taken == in->length && in->capacity > 2 * READ_SIZE)
            text_free(in);
        else
            text_consume(in, client->in_taken);
        client->in_taken = 0;
        client->in_scanned = in->length;
        if (in->length > PROTOCOL_LINE_LIMIT)
            return error_set(err, ERROR_FAILED, "the engine sent a line longer than 1 MiB");
        return true;
    }
    const char *line = in->data + client->in_taken;
    json_error_t where;
    *message = json_read(line, (size_t)(newline - line), 0, &where);
    client->in_taken = client->in_scanned = (size_t)(newline - in->data) + 1;
    if (!*message)
        return error_set(err, ERROR_FAILED, "the engine sent a line that is not JSON: %s",
                         where.text);
    return true;
}

/* The next message from the wire, past those kept. */
static bool next_from_wire(struct client *client, json_t **message, struct error *err)
{
    *message = NULL;
    if (client->out.length && !flush_output(client, err))
        return false;
    for (;;) {
        if (!take_line(client, message, err))
            return false;
        if (*message)
            return true;
        char buffer[READ_SIZE];
        ssize_t got = recv(client->fd, buffer, sizeof buffer, MSG_DONTWAIT);
        if (got > 0) {
            if (client->line)
                client->line->heard = true;
            text_append(&client->in, buffer, (size_t)got);
            if (client->in.failed)
                return error_memory(err, "message from the engine");
        } else if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            return true;
        } else if (got == 0 || errno != EINTR) {
            return connection_lost(client, err);
        }
    }
}

bool client_next(struct client *client, json_t **message, struct error *err)
{
    size_t kept = json_array_size(client->kept);
    if (client->line)
        line_listen(client->line, false);
    if (client->kept_taken < kept) {
        *message = json_incref(json_array_get(client->kept, client->kept_taken));
        if (++client->kept_taken == kept) {
            json_array_clear(client->kept);
            client->kept_taken = 0;
        }
        return true;
    }
    return next_from_wire(client, message, err);
}

bool client_response(const json_t *message, json_t **result, struct error *err)
{
    json_t *value = json_object_get(message, "result");
    if (value) {
        if (result)
            *result = value;
        return true;
    }
    const json_t *failure = json_object_get(message, "error");
    const char *text = json_string_value(json_object_get(failure, "message"));
    json_int_t code = json_integer_value(json_object_get(failure, "code"));
    enum error_kind kind = code == -32602   ? ERROR_USAGE
                           : code == -32001 ? ERROR_ABSENT
                           : code == -32002 ? ERROR_SILENT
                                            : ERROR_FAILED;
    return error_set(err, kind, "%s", text ? text : "the engine answered without a result");
}

static bool is_response_to(const json_t *message, long id)
{
    const json_t *value = json_object_get(message, "id");
    return json_is_integer(value) && json_integer_value(value) == id;
}

/* The engine's last line on a connection whose place another one got. */
static bool is_farewell(const json_t *message)
{
    const json_t *failure = json_object_get(message, "error");
    return json_is_null(json_object_get(message, "id")) &&
           json_integer_value(json_object_get(failure, "code")) == -32002;
}

/* What has come so far: *answered with the response to `id` in *result, or *err. */
static bool take_until(struct client *client, long id, bool *answered, json_t **result,
                       struct error *err)
{
    for (json_t *message;;) {
        if (!next_from_wire(client, &message, err))
            return false;
        if (!message)
            return true;
        bool last = is_farewell(message);
        *answered = is_response_to(message, id);
        if (*answered || last) {
            json_t *value;
            bool ok = client_response(message, &value, err);
            if (ok && result)
                *result = json_incref(value);
            client->lost |= last;
            json_decref(message);
            return ok;
        }
        if (json_array_append_new(client->kept, message) != 0)
            return error_memory(err, "message from the engine");
    }
}

/* Wait for what comes next, also from ssh, whose words are shown. */
static bool wait_for_more(struct client *client, double seconds, struct error *err)
{
    struct pollfd fds[] = {client_poll(client),
                           {.fd = client->line ? client->line->errors : -1, .events = POLLIN}};
    if (poll(fds, 2, (int)(seconds * 1000) + 1) < 0 && errno != EINTR)
        return error_errno(err, "cannot wait for the engine");
    if (client->line)
        line_listen(client->line, true);
    return true;
}

/* It does not answer: where, why and what to do. */
static bool silent(const struct client *client, double seconds, struct error *err)
{
    peer_error(err, client_engine(client), seconds);
    return client->line ? error_prefix(err, "%s", client->line->host) : false;
}

bool client_await(struct client *client, double seconds, struct error *err)
{
    const double deadline = clock_seconds() + seconds;
    for (;;) {
        char byte;
        ssize_t got = recv(client->fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
        if (got > 0)
            return true;
        if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
            return connection_lost(client, err);
        double left = deadline - clock_seconds();
        if (left <= 0)
            return silent(client, seconds, err);
        if (!wait_for_more(client, left, err))
            return false;
    }
}

bool client_call(struct client *client, const char *method, json_t *params, double seconds,
                 json_t **result, struct error *err)
{
    long id;
    const double begin = clock_seconds(), deadline = begin + seconds;
    double look = begin + CLIENT_SILENT;
    bool answered = false;
    if (!client_send(client, method, params, &id, err))
        return false;
    for (;;) {
        if (!take_until(client, id, &answered, result, err))
            return false;
        if (answered)
            return true;
        double now = clock_seconds();
        if (now >= deadline || (now >= look && peer_is_stopped(client_engine(client))))
            return silent(client, seconds, err);
        if (now >= look)
            look = now + CLIENT_SILENT;
        double left = fmin(deadline, look) - now;
        if (!wait_for_more(client, left, err))
            return false;
    }
}
