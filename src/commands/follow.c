/* SPDX-License-Identifier: MIT */
#include "commands/follow.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/print.h"
#include "cli/options.h"
#include "cli/run_number.h"
#include "client/peer.h"
#include "client/session.h"
#include "commands/list.h"

/* Seconds without a message after which we check whether the engine is stopped. */
#define LOOK_SECONDS 2

/* Set by the signal handlers, and looked at between waits; the signals are blocked but then. */
static volatile sig_atomic_t interrupts, leave, redraw;

static void on_interrupt(int number)
{
    (void)number;
    if (interrupts < 3)
        interrupts++;
}

static void on_leave(int number)
{
    (void)number;
    leave = 1;
}

static void on_redraw(int number)
{
    (void)number;
    redraw = 1;
}

/* A signal that was ignored when we were started (nohup, a shell's background job) stays so. */
static void handle(int number, void (*handler)(int number), sigset_t *blocked)
{
    struct sigaction old, action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_IGN)
        return;
    sigaction(number, &action, NULL);
    sigaddset(blocked, number);
}

static void take_signals(const struct follow_options *options, sigset_t *while_waiting)
{
    const bool private_engine = options->private_engine;
    sigset_t blocked;
    sigemptyset(&blocked);
    handle(SIGINT, options->leaves ? on_leave : on_interrupt, &blocked);
    handle(SIGTERM, private_engine ? on_interrupt : on_leave, &blocked);
    handle(SIGWINCH, on_redraw, &blocked);
    handle(SIGCONT, on_redraw, &blocked);
    if (private_engine)
        signal(SIGHUP, SIG_IGN);
    else
        handle(SIGHUP, on_leave, &blocked);
    sigprocmask(SIG_BLOCK, &blocked, while_waiting);
}

struct follower {
    struct client *client;
    struct display display;
    bool private_engine;
    long from;    /* number of the first event to show */
    int stops;    /* requests to stop that were sent */
    bool stopped; /* the engine, by a signal or a debugger, which has been said */
    struct follow_result *result;
};

static void take_end(struct follower *follower, const json_t *event)
{
    struct follow_result *result = follower->result;
    const char *error = json_string_value(json_object_get(event, "error"));
    const char *log_error = json_string_value(json_object_get(event, "log_error"));
    snprintf(result->status, sizeof result->status, "%s", member_text(event, "status"));
    snprintf(result->error, sizeof result->error, "%s", error ? error : "");
    snprintf(result->log_error, sizeof result->log_error, "%s", log_error ? log_error : "");
}

/* A notification of the engine; responses to what we sent meanwhile need no look. */
static void take_message(struct follower *follower, json_t *message)
{
    const char *method = json_string_value(json_object_get(message, "method"));
    json_t *params = json_object_get(message, "params");
    if (!method)
        return;
    if (strcmp(method, "state") == 0) {
        display_state(&follower->display, params);
    } else if (strcmp(method, "event") == 0 &&
               member_number(params, "run") == (double)follower->display.run) {
        display_event(&follower->display, params);
        if (strcmp(member_text(params, "event"), "end") == 0)
            take_end(follower, params);
    }
}

static bool take_messages(struct follower *follower, struct error *err)
{
    json_t *message;
    while (!follower->result->status[0]) {
        if (!client_next(follower->client, &message, err))
            return false;
        if (!message)
            break;
        take_message(follower, message);
        json_decref(message);
    }
    display_settle(&follower->display);
    return true;
}

/* As many requests to stop as there were interrupts, but one of each kind. */
static bool send_stops(struct follower *follower, struct error *err)
{
    const char *remark;
    while (follower->stops < interrupts && follower->stops < 2) {
        if (!session_stop(follower->client, follower->display.run, follower->stops++, &remark, err))
            return false;
        follower->display.stopping = true;
        display_remark(&follower->display, remark);
    }
    return true;
}

/* Is there a reason to go although the run has not ended? */
static bool must_leave(const struct follower *follower)
{
    return interrupts > 2 || leave || (follower->display.lost && !follower->private_engine);
}

static bool subscribe(struct follower *follower, struct error *err)
{
    bool steps = follower->display.kind == DISPLAY_JSON;
    json_t *params = json_pack("{s:I, s:I, s:b}", "run", (json_int_t)follower->display.run, "from",
                               (json_int_t)follower->from, "steps", steps);
    if (!client_call(follower->client, "follow", params, SESSION_SECONDS, NULL, err))
        return false;
    return follower->display.kind != DISPLAY_TERMINAL ||
           client_call(follower->client, "watch", json_pack("{s:f}", "interval", WATCH_SECONDS),
                       SESSION_SECONDS, NULL, err);
}

/* Once for each time that the engine is found stopped: nothing comes until it is continued. */
static void say_stopped(struct follower *follower, int heard)
{
    struct error err = ERROR_INIT;
    pid_t engine = client_engine(follower->client);
    bool stopped = heard == 0 && peer_is_stopped(engine);
    if (stopped && !follower->stopped) {
        peer_error(&err, engine, LOOK_SECONDS);
        display_remark(&follower->display, err.text);
    }
    follower->stopped = stopped || (heard <= 0 && follower->stopped);
}

static bool follow(struct follower *follower, const sigset_t *while_waiting, struct error *err)
{
    if (!subscribe(follower, err))
        return false;
    for (;;) {
        if (!take_messages(follower, err) || !send_stops(follower, err))
            return false;
        if (follower->result->status[0] || must_leave(follower))
            return true;
        if (redraw) {
            redraw = 0;
            display_redraw(&follower->display);
            display_settle(&follower->display);
        }
        struct pollfd wait = client_poll(follower->client);
        int heard = ppoll(&wait, 1, &(struct timespec){.tv_sec = LOOK_SECONDS}, while_waiting);
        if (heard < 0 && errno != EINTR)
            return error_errno(err, "cannot wait for the engine");
        say_stopped(follower, heard);
    }
}

bool follow_run(struct client *client, long run, const struct follow_options *options,
                struct follow_result *result, struct error *err)
{
    sigset_t while_waiting;
    struct follower follower = {.client = client,
                                .private_engine = options->private_engine,
                                .from = options->from,
                                .result = result};
    *result = (struct follow_result){.status = ""};
    display_begin(&follower.display, options->kind, run, options->profile);
    take_signals(options, &while_waiting);
    bool ok = follow(&follower, &while_waiting, err);
    display_end(&follower.display);
    return ok;
}

bool follow_outcome(const struct follow_result *result, long run, struct error *err)
{
    if (strcmp(result->status, "failed") == 0)
        error_set(err, ERROR_FAILED, "run %ld failed: %s", run, result->error);
    else if (strcmp(result->status, "interrupted") == 0)
        error_set(err, ERROR_FAILED, "run %ld was interrupted: %s", run, result->error);
    else if (strcmp(result->status, "stopped") == 0)
        error_set(err, ERROR_FAILED, "run %ld was stopped", run);
    else if (strcmp(result->status, "cancelled") == 0)
        error_set(err, ERROR_FAILED, "run %ld was taken out of the queue", run);
    return strcmp(result->status, "done") == 0;
}

/* Without an engine nothing trains, and none is started to say so. */
static bool reach(const struct invocation *invocation, long run, struct client **client,
                  struct error *err)
{
    if (invocation->remote.host)
        return session_open(&invocation->remote, client, err);
    if (!session_open_running(client, err))
        return false;
    return *client || error_set(err, ERROR_FAILED,
                                "no engine is running, so there is no run %ld to follow: "
                                "'dpartui show %ld' prints what is kept of it",
                                run, run);
}

static bool run(struct invocation *invocation, struct error *err)
{
    const struct follow_options options = {
        .kind = display_choose(invocation_has(invocation, "json")), .leaves = true};
    struct follow_result result;
    struct client *client;
    long number;
    if (!run_number_parse(invocation->arguments[0], &number, err) ||
        !reach(invocation, number, &client, err))
        return false;
    bool ok = follow_run(client, number, &options, &result, err);
    client_close(client);
    if (ok && !result.status[0])
        print_to(stderr, "dpartui: run %ld continues\n", number);
    return ok && follow_outcome(&result, number, err);
}

static const struct option options[] = {
    {"json", OPTION_FLAG, NULL, "print the events as JSON, one object a line"},
    OPTIONS_END,
};

const struct command command_follow = {
    .name = "follow",
    .arguments = "RUN",
    .argument_min = 1,
    .argument_max = 1,
    .live_run = true,
    .summary = "Show the progress of a run that waits or trains",
    .details =
        "It prints what train does. Ctrl-C ends that, not the run. The exit status is 0 when\n"
        "the run is done, 1 when it failed, was stopped or continues.\n",
    .options = options,
    .run = run,
};
