/* SPDX-License-Identifier: MIT */
#include "client/open.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "client/peer.h"
#include "client/spawn.h"
#include "client/state.h"
#include "system/local_socket.h"
#include "system/process.h"
#include "system/shell.h"

/* How long what was sent may take to leave once its connection is closed ... */
#define LEAVE_SECONDS 3.0
/* ... and a private engine, which lets the commands that notify end. */
#define CHILD_SECONDS (NOTIFY_SECONDS + LEAVE_SECONDS)

/* Where an engine has left another one its place, that is there within these. */
#define OTHER_SECONDS 4.0

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

/* A client that waits for a place in the socket's queue gets it in turn; one that asks again and
 * again does not. */
static bool reach(int fd, const struct sockaddr_un *address, double seconds)
{
    const double deadline = clock_seconds() + seconds;
    for (;;) {
        double left = fmax(deadline - clock_seconds(), 0.001);
        struct timeval wait = {.tv_sec = (time_t)left,
                               .tv_usec = (suseconds_t)(1e6 * (left - floor(left)))};
        if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait) != 0)
            return false;
        if (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0)
            return true;
        if (errno != EINTR || clock_seconds() > deadline)
            return false;
    }
}

/* `seconds` 0: at once or not at all. ERROR_SILENT: the engine has no place. */
static bool connect_to(const struct sockaddr_un *address, double seconds, struct client **out,
                       struct error *err)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (seconds > 0 ? 0 : SOCK_NONBLOCK), 0);
    if (fd < 0)
        return error_errno(err, "cannot make a socket");
    bool ok = seconds > 0 ? reach(fd, address, seconds)
                          : connect(fd, (const struct sockaddr *)address, sizeof *address) == 0;
    if (!ok && (errno == ENOENT || errno == ECONNREFUSED))
        error_set(err, ERROR_ABSENT, "no engine is running: 'dpartui engine start' starts one");
    else if (!ok && errno == EAGAIN)
        peer_error(err, peer_of_lock(), seconds);
    else if (!ok)
        error_errno(err, "%s: cannot connect to the engine", address->sun_path);
    else if (seconds > 0 && fcntl(fd, F_SETFL, O_NONBLOCK) != 0)
        ok = error_errno(err, "cannot set up the connection to the engine");
    else if ((ok = local_socket_check_peer(fd, err)) && !(*out = client_new(fd, 0)))
        ok = error_memory(err, "connection");
    if (!ok)
        close(fd);
    return ok;
}

bool client_connect(struct client **out, struct error *err)
{
    struct sockaddr_un address;
    return local_socket_address(&address, err) && connect_to(&address, 0, out, err);
}

bool client_connect_within(struct client **out, double seconds, struct error *err)
{
    struct sockaddr_un address;
    const double begin = clock_seconds(), deadline = begin + seconds;
    if (!local_socket_address(&address, err))
        return false;
    for (;;) {
        double left = fmax(deadline - clock_seconds(), 0.001);
        *err = (struct error)ERROR_INIT;
        if (connect_to(&address, fmin(left, CLIENT_SILENT), out, err))
            return true;
        if (err->kind != ERROR_SILENT)
            return false;
        if (clock_seconds() < deadline && !peer_is_stopped(peer_of_lock()))
            continue;
        return peer_error(err, peer_of_lock(), seconds);
    }
}

/* Nobody answers. */
static bool fail_to_start(double seconds, bool ended, struct error *err)
{
    struct error ignored = ERROR_INIT;
    char *log = spawn_log_path(&ignored), *last = ended ? spawn_log_end() : NULL;
    if (last)
        error_set(err, ERROR_FAILED, "the engine ended as it began: %s (%s)", last,
                  log ? log : "its log");
    else
        error_set(err, ERROR_FAILED, "the engine was started but did not answer in %g s: see %s",
                  seconds, log ? log : "its log");
    free(last);
    free(log);
    return false;
}

/* Until an engine answers that was started, or the one that it has left its place to. */
static bool await_started(struct client **out, pid_t engine, double seconds, bool *ended)
{
    struct error absent = ERROR_INIT;
    double deadline = clock_seconds() + seconds;
    *ended = false;
    while (!client_connect(out, &absent)) {
        if (!*ended && engine > 0 && process_has_ended(engine)) {
            *ended = true;
            deadline = fmin(deadline, clock_seconds() + OTHER_SECONDS);
        }
        if (clock_seconds() > deadline)
            return false;
        pause_briefly();
    }
    return true;
}

bool client_open(struct client **out, double seconds, struct error *err)
{
    struct sockaddr_un address;
    pid_t engine;
    bool ended = true;
    /* A folder that is not safe is no place to start an engine in. */
    if (!local_socket_address(&address, err))
        return false;
    if (client_connect_within(out, seconds, err))
        return true;
    if (err->kind == ERROR_SILENT)
        return false;
    *err = (struct error)ERROR_INIT;
    /* Once more where it has ended: the other one may have, too, meanwhile. */
    for (int tries = 0; tries < 2 && ended; tries++) {
        if (!spawn_background_engine(&engine, err))
            return false;
        if (await_started(out, engine, seconds, &ended))
            return true;
    }
    return fail_to_start(seconds, ended, err);
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

bool client_open_remote(struct client **out, const struct remote *remote, enum line_use use,
                        bool running, struct error *err)
{
    struct line *line = calloc(1, sizeof *line);
    if (!line)
        return error_memory(err, "line");
    bool ok = line_open(line, remote, use, running, err);
    if (ok && !(*out = client_new(line->fd, 0))) {
        line_close(line, 0);
        ok = error_memory(err, "connection");
    }
    if (ok)
        (*out)->line = line;
    else
        free(line);
    return ok;
}

/* The engine leaves by itself when its socket closes; one that hangs is killed. */
static void end_child(pid_t child)
{
    double deadline = clock_seconds() + CHILD_SECONDS;
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

static void close_within(struct client *client, double seconds)
{
    if (!client)
        return;
    if (client->line)
        line_close(client->line, client->lost ? 0 : seconds);
    else
        close(client->fd);
    if (client->child > 0)
        end_child(client->child);
    text_free(&client->in);
    text_free(&client->out);
    json_decref(client->kept);
    free(client->line);
    free(client);
}

void client_close(struct client *client)
{
    close_within(client, LEAVE_SECONDS);
}

void client_drop(struct client *client)
{
    close_within(client, 0);
}
