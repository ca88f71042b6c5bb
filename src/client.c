/* SPDX-License-Identifier: MIT */
#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/local_socket.h"
#include "base/text.h"
#include "spawn.h"

#define OUTPUT_LIMIT ((size_t)4 << 20)
#define READ_SIZE    ((size_t)64 << 10)
/* How long a private engine may take to leave once its connection is closed. */
#define LEAVE_SECONDS 3.0

struct client {
    int fd;
    pid_t child; /* a private engine, else 0 */
    long last_id;
    struct text in, out;
    size_t in_taken;   /* bytes of `in` already handed out */
    size_t in_scanned; /* bytes of `in` known to hold no further newline */
    json_t *kept;      /* messages that arrived during client_call */
    size_t kept_taken;
};

static void pause_briefly(void)
{
    struct timespec time = {.tv_nsec = 20000000L};
    nanosleep(&time, NULL);
}

static struct client *client_new(int fd, pid_t child)
{
    struct client *client = calloc(1, sizeof *client);
    json_t *kept = json_array();
    if (!client || !kept) {
        free(client);
        json_decref(kept);
        return NULL;
    }
    client->fd = fd;
    client->child = child;
    client->kept = kept;
    return client;
}

static bool connect_to(const struct sockaddr_un *address, struct client **out, struct error *err)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return error_errno(err, "cannot make a socket");
    bool ok = connect(fd, (const struct sockaddr *)address, sizeof *address) == 0;
    if (!ok && (errno == ENOENT || errno == ECONNREFUSED))
        error_set(err, ERROR_ABSENT, "no engine is running: 'dpartui engine start' starts one");
    else if (!ok)
        error_errno(err, "%s: cannot connect to the engine", address->sun_path);
    else if ((ok = local_socket_check_peer(fd, err)) && !(*out = client_new(fd, 0)))
        ok = error_memory(err, "connection");
    if (!ok)
        close(fd);
    return ok;
}

bool client_connect(struct client **out, struct error *err)
{
    struct sockaddr_un address;
    return local_socket_address(&address, err) && connect_to(&address, out, err);
}

bool client_start_engine(struct error *err)
{
    return spawn_background_engine(err);
}

bool client_open(struct client **out, double seconds, struct error *err)
{
    struct sockaddr_un address;
    if (!local_socket_address(&address, err))
        return false;
    struct error absent = ERROR_INIT, ignored = ERROR_INIT;
    if (connect_to(&address, out, &absent))
        return true;
    if (!spawn_background_engine(err))
        return false;
    double deadline = clock_seconds() + seconds;
    while (!connect_to(&address, out, &absent)) {
        if (clock_seconds() > deadline) {
            char *log = spawn_log_path(&ignored);
            error_set(err, ERROR_FAILED,
                      "the engine was started but did not answer in %g s: see %s", seconds,
                      log ? log : "its log");
            free(log);
            return false;
        }
        pause_briefly();
    }
    return true;
}

bool client_open_private(struct client **out, struct error *err)
{
    int pair[2];
    pid_t child;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) != 0)
        return error_errno(err, "cannot make a socket for a private engine");
    bool ok = spawn_private_engine(pair[1], &child, err);
    close(pair[1]);
    if (ok && !(*out = client_new(pair[0], child))) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        ok = error_memory(err, "connection");
    }
    if (!ok)
        close(pair[0]);
    return ok;
}

/* The engine leaves by itself when its socket closes; one that hangs is killed. */
static void end_child(pid_t child)
{
    double deadline = clock_seconds() + LEAVE_SECONDS;
    for (;;) {
        pid_t got = waitpid(child, NULL, WNOHANG);
        if (got == child || (got < 0 && errno != EINTR))
            return;
        if (clock_seconds() > deadline)
            break;
        pause_briefly();
    }
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
}

void client_close(struct client *client)
{
    if (!client)
        return;
    close(client->fd);
    if (client->child > 0)
        end_child(client->child);
    text_free(&client->in);
    text_free(&client->out);
    json_decref(client->kept);
    free(client);
}

int client_fd(const struct client *client)
{
    return client->fd;
}

bool client_wants_write(const struct client *client)
{
    return client->out.length > 0;
}

static bool connection_lost(struct error *err)
{
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
        else if (errno != EINTR)
            ok = connection_lost(err);
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
    *message = json_loadb(line, (size_t)(newline - line), 0, &where);
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
            text_append(&client->in, buffer, (size_t)got);
            if (client->in.failed)
                return error_memory(err, "message from the engine");
        } else if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            return true;
        } else if (got == 0 || errno != EINTR) {
            return connection_lost(err);
        }
    }
}

bool client_next(struct client *client, json_t **message, struct error *err)
{
    size_t kept = json_array_size(client->kept);
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
                                            : ERROR_FAILED;
    return error_set(err, kind, "%s", text ? text : "the engine answered without a result");
}

static bool is_response_to(const json_t *message, long id)
{
    const json_t *value = json_object_get(message, "id");
    return json_is_integer(value) && json_integer_value(value) == id;
}

bool client_call(struct client *client, const char *method, json_t *params, double seconds,
                 json_t **result, struct error *err)
{
    long id;
    double deadline = clock_seconds() + seconds;
    if (!client_send(client, method, params, &id, err))
        return false;
    for (;;) {
        json_t *message;
        if (!next_from_wire(client, &message, err))
            return false;
        if (message && is_response_to(message, id)) {
            json_t *value;
            bool ok = client_response(message, &value, err);
            if (ok && result)
                *result = json_incref(value);
            json_decref(message);
            return ok;
        }
        if (message) {
            if (json_array_append_new(client->kept, message) != 0)
                return error_memory(err, "message from the engine");
            continue;
        }
        double left = deadline - clock_seconds();
        if (left <= 0)
            return error_set(err, ERROR_FAILED, "%s: the engine did not answer in %g s", method,
                             seconds);
        struct pollfd wait = {.fd = client->fd,
                              .events = (short)(POLLIN | (client->out.length ? POLLOUT : 0))};
        if (poll(&wait, 1, (int)(left * 1000) + 1) < 0 && errno != EINTR)
            return error_errno(err, "cannot wait for the engine");
    }
}
