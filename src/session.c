/* SPDX-License-Identifier: MIT */
#include "session.h"

#include "base/local_socket.h"
#include "config.h"

/* The engine may be of another version than this program, left over from before an update. */
static bool greet(struct client **client, struct error *err)
{
    json_t *result = NULL;
    bool ok = client_call(*client, "hello", json_pack("{s:s}", "version", PACKAGE_VERSION),
                          SESSION_SECONDS, &result, err);
    if (ok && json_integer_value(json_object_get(result, "protocol")) != PROTOCOL_VERSION) {
        const char *version = json_string_value(json_object_get(result, "version"));
        ok = error_set(err, ERROR_FAILED,
                       "the running engine is of version %s, this program of " PACKAGE_VERSION
                       ": end it with 'dpartui engine stop'",
                       version ? version : "?");
    }
    json_decref(result);
    if (!ok) {
        client_close(*client);
        *client = NULL;
    }
    return ok;
}

bool session_open(struct client **out, struct error *err)
{
    return client_open(out, SESSION_SECONDS, err) && greet(out, err);
}

bool session_open_private(struct client **out, struct error *err)
{
    return client_open_private(out, err) && greet(out, err);
}

bool session_open_running(struct client **out, struct error *err)
{
    *out = NULL;
    if (client_connect(out, err))
        return greet(out, err);
    if (err->kind != ERROR_ABSENT)
        return false;
    *err = (struct error)ERROR_INIT;
    return true;
}

bool session_open_to_ask(struct client **out, struct error *err)
{
    return session_open_running(out, err) && (*out || session_open_private(out, err));
}
