/* SPDX-License-Identifier: MIT */
#include "client/session.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/print.h"
#include "client/store_wait.h"
#include "config.h"
#include "system/local_socket.h"

/* The engine may be of another version than this program: left over from before an update, or what
 * another host has. */
static bool check_version(const char *host, const json_t *result, struct error *err)
{
    const char *version = json_string_value(json_object_get(result, "version"));
    const char *shown = version ? version : "?";
    const bool same = json_integer_value(json_object_get(result, "protocol")) == PROTOCOL_VERSION;
    if (same && host && strcmp(shown, PACKAGE_VERSION) != 0)
        print_to(stderr,
                 "dpartui: %s has version %s, this host " PACKAGE_VERSION
                 ": what only one of them knows does not work\n",
                 host, shown);
    if (same)
        return true;
    if (host)
        return error_set(err, ERROR_FAILED,
                         "%s has version %s, which this one, " PACKAGE_VERSION
                         ", does not understand: install the same version on both",
                         host, shown);
    return error_set(err, ERROR_FAILED,
                     "the running engine is of version %s, this program of " PACKAGE_VERSION
                     ": end it with 'dpartui engine stop'",
                     shown);
}

static bool greet(struct client **client, double seconds, bool *lost, struct error *err)
{
    json_t *result = NULL;
    bool ok = client_call(*client, "hello", json_pack("{s:s}", "version", PACKAGE_VERSION), seconds,
                          &result, err);
    ok = ok && check_version(client_host(*client), result, err);
    json_decref(result);
    *lost = !ok && client_is_lost(*client);
    if (!ok) {
        client_close(*client);
        *client = NULL;
    }
    return ok;
}

/*
 * Connections that are dropped at once: by an engine that is just being killed, until it is gone or
 * another client has started the next one, and by one that is short of places. Again until there is
 * an engine that greets, or none of this user: *reached is false, with ERROR_ABSENT when nobody
 * listens at all.
 */
static bool open_running(struct client **out, double seconds, bool *reached, struct error *err)
{
    const double deadline = clock_seconds() + seconds;
    for (bool lost = true;;) {
        double left = fmax(deadline - clock_seconds(), 0.001);
        *err = (struct error)ERROR_INIT;
        *reached = client_connect_within(out, left, err) || err->kind == ERROR_SILENT;
        if (err->kind != ERROR_NONE)
            return false;
        left = fmax(deadline - clock_seconds(), 0.001);
        if (greet(out, left, &lost, err))
            return true;
        if (!lost)
            return false;
        if (clock_seconds() >= deadline) {
            err->kind = ERROR_SILENT; /* it is there, and does not answer */
            return false;
        }
        nanosleep(&(struct timespec){.tv_nsec = 20000000L}, NULL);
    }
}

/* An engine that serves all and ends when its user wants it to is as good as a private one. */
static bool open_remote(const struct remote *remote, struct client **out, struct error *err)
{
    bool lost;
    return client_open_remote(out, remote, LINE_TO_COMMAND, false, err) &&
           greet(out, REMOTE_SECONDS, &lost, err);
}

bool session_open(const struct remote *remote, struct client **out, struct error *err)
{
    bool lost, reached;
    if (remote->host)
        return open_remote(remote, out, err);
    if (open_running(out, SESSION_SECONDS, &reached, err))
        return true;
    if (reached)
        return false;
    *err = (struct error)ERROR_INIT;
    store_wait();
    return store_is_ours(err) && client_open(out, SESSION_SECONDS, err) &&
           greet(out, SESSION_SECONDS, &lost, err);
}

bool session_open_private(const struct remote *remote, struct client **out, struct error *err)
{
    bool lost;
    if (remote->host)
        return open_remote(remote, out, err);
    return client_open_private(out, err) && greet(out, SESSION_SECONDS, &lost, err);
}

bool session_open_within(struct client **out, double seconds, struct error *err)
{
    bool reached;
    *out = NULL;
    if (open_running(out, seconds, &reached, err))
        return true;
    *out = NULL;
    if (err->kind != ERROR_ABSENT)
        return false;
    *err = (struct error)ERROR_INIT;
    return true;
}

bool session_open_running(struct client **out, struct error *err)
{
    return session_open_within(out, SESSION_SECONDS, err);
}

bool session_open_to_ask(const struct remote *remote, struct client **out, struct error *err)
{
    if (remote->host)
        return open_remote(remote, out, err);
    return session_open_running(out, err) && (*out || session_open_private(remote, out, err));
}

/* *result stays NULL unless the message is the response. */
static bool take_message(const json_t *message, long id, session_notified *notified, void *context,
                         json_t **result, struct error *err)
{
    const char *method = json_string_value(json_object_get(message, "method"));
    if (method)
        return notified(context, method, json_object_get(message, "params"), err);
    if (json_integer_value(json_object_get(message, "id")) != id)
        return true;
    json_t *response = NULL;
    bool ok = client_response(message, &response, err);
    *result = ok ? json_incref(response) : NULL;
    return ok;
}

bool session_wait(struct client *client, long id, session_notified *notified, void *context,
                  json_t **result, struct error *err)
{
    *result = NULL;
    while (!*result) {
        json_t *message;
        if (!client_next(client, &message, err))
            return false;
        if (message) {
            bool ok = take_message(message, id, notified, context, result, err);
            json_decref(message);
            if (!ok)
                return false;
            continue;
        }
        struct pollfd wait = client_poll(client);
        if (poll(&wait, 1, -1) < 0 && errno != EINTR)
            return error_errno(err, "cannot wait for the engine");
    }
    return true;
}

bool session_stop(struct client *client, long run, int times, const char **remark,
                  struct error *err)
{
    long id;
    *remark = times == 0 ? "stopping after this step; Ctrl-C again stops at once"
                         : "stopping at once; Ctrl-C again leaves without waiting";
    return client_send(client, "stop",
                       json_pack("{s:I, s:b}", "run", (json_int_t)run, "now", times > 0), &id, err);
}
