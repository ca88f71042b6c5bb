/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/print.h"
#include "cli/options.h"
#include "client/peer.h"
#include "client/session.h"
#include "client/store_wait.h"
#include "commands/list.h"
#include "remote/relay.h"

/* Ending a run at once takes as long as its devices take to answer. */
#define STOP_SECONDS 60.0

static void print_status(const json_t *status)
{
    if (!json_is_true(json_object_get(status, "running"))) {
        print("no engine is running\n");
        return;
    }
    print("engine %s runs as process %.0f, ", member_text(status, "version"),
          member_number(status, "pid"));
    if (json_is_integer(json_object_get(status, "run")))
        print("training run %.0f", member_number(status, "run"));
    else
        print("idle");
    if (member_number(status, "nice") > 0)
        print(", nice %.0f", member_number(status, "nice"));
    if (json_is_true(json_object_get(status, "limited")))
        print(", on CPUs %s", member_text(status, "cpus"));
    print("\n");
}

static bool ask_status(struct client *client, json_t **status, struct error *err)
{
    if (client)
        return client_call(client, "status", NULL, SESSION_SECONDS, status, err);
    *status =
        json_pack("{s:b, s:n, s:n, s:n, s:n}", "running", 0, "pid", "version", "run", "no_gpus");
    return *status || error_memory(err, "status");
}

/* Of an engine, whose connection is closed then, or of none. */
static bool show_status(struct client *client, bool json, struct error *err)
{
    json_t *status = NULL;
    bool ok = ask_status(client, &status, err);
    if (ok && json)
        print_json(status);
    else if (ok)
        print_status(status);
    json_decref(status);
    client_close(client);
    return ok;
}

static bool engine_status(struct invocation *invocation, struct error *err)
{
    struct client *client;
    return session_open_running(&client, err) &&
           show_status(client, invocation_has(invocation, "json"), err);
}

static bool engine_start(struct invocation *invocation, struct error *err)
{
    struct client *client;
    return session_open(&invocation->remote, &client, err) &&
           show_status(client, invocation_has(invocation, "json"), err);
}

/* The engine closes the connection when it ends, and answers no more. */
static bool wait_for_end(struct client *client, struct error *err)
{
    double deadline = clock_seconds() + STOP_SECONDS;
    struct error lost = ERROR_INIT;
    for (json_t *message; client_next(client, &message, &lost); json_decref(message)) {
        if (clock_seconds() > deadline) {
            json_decref(message);
            return error_set(
                err, ERROR_FAILED,
                "the engine (pid %ld) has not ended in %g s: 'kill -KILL %ld' ends it, "
                "and its run can be resumed",
                (long)client_engine(client), STOP_SECONDS, (long)client_engine(client));
        }
        if (!message)
            nanosleep(&(struct timespec){.tv_nsec = 10000000L}, NULL);
    }
    return true;
}

/* One that is stopped by a signal hears nothing, and what is to end need not stay so. Whether it is
 * stopped already is not asked: that shows only after a moment. */
static void continue_engine(void)
{
    pid_t engine = peer_of_lock();
    if (engine)
        kill(engine, SIGCONT);
}

/*
 * So that an engine that is silent now does not end later, on a request that nobody waits for any
 * more. What it answers does not matter: one of another version must be stoppable, too.
 */
static bool answers(struct client *client, struct error *err)
{
    struct error refusal = ERROR_INIT;
    if (client_call(client, "status", NULL, SESSION_SECONDS, NULL, &refusal) ||
        (refusal.kind != ERROR_SILENT && !client_is_lost(client)))
        return true;
    *err = refusal;
    return false;
}

static bool engine_stop(struct invocation *invocation, struct error *err)
{
    struct client *client;
    const bool now = invocation_has(invocation, "now"), json = invocation_has(invocation, "json");
    if (now)
        continue_engine();
    if (!client_connect_within(&client, SESSION_SECONDS, err)) {
        if (err->kind != ERROR_ABSENT)
            return false;
        *err = (struct error)ERROR_INIT;
        return show_status(NULL, json, err);
    }
    bool ok = answers(client, err) &&
              client_call(client, "shutdown", json_pack("{s:b}", "now", now), SESSION_SECONDS, NULL,
                          err) &&
              wait_for_end(client, err);
    client_close(client);
    if (ok && json)
        return show_status(NULL, true, err);
    if (ok)
        print("the engine has ended\n");
    return ok;
}

/* Without a greeting: whether the versions suit each other is the viewer's to find out. */
static bool reach(bool start, struct client **client, struct error *err)
{
    if (client_connect_within(client, SESSION_SECONDS, err))
        return true;
    if (!start || err->kind != ERROR_ABSENT)
        return false;
    *err = (struct error)ERROR_INIT;
    store_wait();
    return store_is_ours(err) && client_open(client, SESSION_SECONDS, err);
}

static bool engine_dial(struct invocation *invocation, struct error *err)
{
    struct client *client;
    if (!reach(!invocation_has(invocation, "running"), &client, err))
        return false;
    bool ok = relay_run(STDIN_FILENO, STDOUT_FILENO, client_poll(client).fd, err);
    client_close(client);
    return ok;
}

static bool run(struct invocation *invocation, struct error *err)
{
    static const struct {
        const char *name;
        bool (*run)(struct invocation *invocation, struct error *err);
    } actions[] = {{"start", engine_start},
                   {"stop", engine_stop},
                   {"status", engine_status},
                   {"dial", engine_dial}};
    enum { ACTIONS = sizeof actions / sizeof *actions };
    const char *names[ACTIONS], *asked = invocation->arguments[0];
    for (size_t i = 0; i < ACTIONS; i++) {
        names[i] = actions[i].name;
        if (strcmp(asked, actions[i].name) == 0)
            return actions[i].run(invocation, err);
    }
    const char *near = nearest_name(asked, names, ACTIONS);
    return error_set(err, ERROR_USAGE, "engine '%.60s': %s%s%s", asked, near ? "did you mean " : "",
                     near ? near : "it is start, stop, status or dial", near ? "?" : "");
}

static const struct option options[] = {
    {"now", OPTION_FLAG, NULL,
     "stop: end the running run, which can be resumed from its newest checkpoint"},
    {"running", OPTION_FLAG, NULL, "dial: an engine that runs; start none"},
    OPTION_JSON,
    OPTIONS_END,
};

const struct command command_engine = {
    .name = "engine",
    .place = PLACE_THERE,
    .place_here = "dial",
    .arguments = "start|stop|status|dial",
    .argument_min = 1,
    .argument_max = 1,
    .summary = "Start, stop or look at the background engine",
    .details =
        "dial joins standard input and output to the engine's socket, starting an engine if\n"
        "none runs.\n",
    .options = options,
    .run = run,
};
