/* SPDX-License-Identifier: MIT */
#include "ui/app/reach.h"

#include "config.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "client/open.h"
#include "client/spawn.h"
#include "ui/control/engine.h"

/* Trying to connect costs a failed system call: often while an engine starts, seldom after. */
#define START_RETRY_S   0.02
#define START_SECONDS   10.0
#define LOST_RETRY_S    0.5
#define LOST_RETRY_MOST 5.0
/* For ssh to reach a host, and the engine there to answer: with a person who types, and without. */
#define FIRST_SECONDS 120.0
#define AGAIN_SECONDS 30.0

void reach_init(struct reach *reach, struct ui *ui, const struct remote *remote)
{
    *reach = (struct reach){.ui = ui, .remote = *remote, .shown = -1};
    reach->wait = remote->host ? 0 : LOST_RETRY_S;
    ui->host[0] = '\0';
    if (remote->host)
        remote_name(remote->host, ui->host);
}

bool reach_first(struct reach *reach, struct client **client, struct error *err)
{
    return client_open_remote(client, &reach->remote, LINE_TO_SCREEN, false, err);
}

bool reach_await(struct reach *reach, struct client *client, struct error *err)
{
    (void)reach;
    return client_await(client, FIRST_SECONDS, err);
}

void reach_done(struct reach *reach)
{
    reach->had_engine = true;
    reach->started = reach->opening = reach->down = false;
    reach->wait = reach->remote.host ? 0 : LOST_RETRY_S;
    reach->shown = -1;
}

static void start_engine(struct reach *reach)
{
    struct error err = ERROR_INIT;
    pid_t engine;
    char advice[512];
    reach->ui->want_engine = false;
    if (!spawn_background_engine(&engine, &err)) {
        snprintf(advice, sizeof advice, "%.400s - press e to try again", err.text);
        ui_disconnected(reach->ui, LINK_NO_ENGINE, advice);
        reach->retry = clock_seconds() + LOST_RETRY_MOST;
        return;
    }
    reach->started = true;
    reach->give_up = clock_seconds() + START_SECONDS;
    reach->retry = clock_seconds() + START_RETRY_S;
    reach->ui->link = LINK_STARTING;
}

/* Nobody answers: the first time start an engine, then wait for it; one that was lost only comes
 * back by itself or on the user's word, because it may have been stopped on purpose. */
static bool try_here(struct reach *reach, struct client **client)
{
    struct error err = ERROR_INIT;
    double now = clock_seconds();
    if (client_connect(client, &err))
        return true;
    *client = NULL;
    if (err.kind == ERROR_SILENT) {
        reach->retry = now + reach->wait;
        reach->wait = fmin(2 * reach->wait, LOST_RETRY_MOST);
        reach->ui->want_engine = false;
        ui_disconnected(reach->ui, LINK_NO_ENGINE, err.text);
        return true;
    }
    if (reach->ui->want_engine ||
        (!reach->had_engine && !reach->started && reach->ui->link == LINK_STARTING)) {
        start_engine(reach);
        return true;
    }
    if (reach->started && now < reach->give_up) {
        reach->retry = now + START_RETRY_S;
        return false;
    }
    if (reach->started) {
        reach->started = false;
        ui_disconnected(reach->ui, LINK_NO_ENGINE,
                        "the engine was started but does not answer: see `dpartui engine status`; "
                        "press e to try again");
        reach->retry = now + LOST_RETRY_S;
        return true;
    }
    reach->retry = now + reach->wait;
    reach->wait = fmin(2 * reach->wait, LOST_RETRY_MOST);
    return false;
}

/* Say of a line that is down when it is tried again; true: that says something new. */
static bool say_down(struct reach *reach)
{
    const double left = reach->opening ? 0 : fmax(reach->retry - clock_seconds(), 0);
    const int seconds = (int)ceil(left);
    if (!reach->down || reach->shown == seconds)
        return false;
    reach->shown = seconds;
    ui_line_down(reach->ui, reach->since, seconds, reach->why);
    return true;
}

/* The line, or the engine over there, is missing: in a while again. */
static void pause(struct reach *reach)
{
    reach->opening = false;
    reach->wait = remote_pause(reach->wait);
    reach->retry = clock_seconds() + reach->wait;
}

static void line_is_down(struct reach *reach, const char *why)
{
    if (!reach->down)
        reach->since = clock_date();
    reach->down = true;
    reach->shown = -1;
    snprintf(reach->why, sizeof reach->why, "%s", why);
    pause(reach);
    say_down(reach);
}

/* An engine is started over there when the user has asked for it, or for this host. */
static bool try_there(struct reach *reach, struct client **client)
{
    struct error err = ERROR_INIT;
    long id;
    const bool start = !reach->had_engine || (reach->ui->want_engine && !reach->down);
    reach->ui->want_engine = false;
    if (!client_open_remote(client, &reach->remote, LINE_UNDER_SCREEN, !start, &err)) {
        *client = NULL;
        line_is_down(reach, err.text);
        return true;
    }
    reach->opening = true;
    reach->give_up = clock_seconds() + AGAIN_SECONDS;
    if (!client_send(*client, "hello", json_pack("{s:s}", "version", PACKAGE_VERSION), &id, &err)) {
        client_drop(*client);
        *client = NULL;
        line_is_down(reach, err.text);
    }
    say_down(reach);
    return true;
}

bool reach_step(struct reach *reach, struct client **client)
{
    const double now = clock_seconds();
    if (reach->opening) {
        /* What the user wants meanwhile is done if this comes to nothing. */
        if (now < reach->give_up)
            return false;
        client_drop(*client);
        *client = NULL;
        line_is_down(reach, "it does not answer");
        return true;
    }
    if (now < reach->retry && !reach->ui->want_engine)
        return say_down(reach);
    return reach->remote.host ? try_there(reach, client) : try_here(reach, client);
}

double reach_deadline(const struct reach *reach)
{
    if (reach->opening)
        return reach->give_up;
    if (reach->ui->want_engine)
        return 0;
    /* Down to the second that is shown next. */
    return reach->down && reach->shown > 0 ? reach->retry - reach->shown + 1 : reach->retry;
}

void reach_lost(struct reach *reach, const struct client *client, const struct error *err)
{
    const char *gone = reach->ui->stopped
                           ? "the engine was stopped. Press e to start it again"
                           : "the engine is gone. If it ended, its runs are interrupted and can be "
                             "resumed. Press e to start another";
    const enum line_end end = client_line_end(client);
    const bool far = client_host(client);
    if (far && end != LINE_HUNG_UP && end != LINE_NO_ENGINE) {
        const char *why = client_line_why(client);
        line_is_down(reach, why[0] ? why : err->text);
        return;
    }
    reach->down = false;
    ui_disconnected(reach->ui, LINK_LOST,
                    far && end == LINE_NO_ENGINE && !reach->had_engine ? err->text : gone);
    if (far) {
        pause(reach);
        return;
    }
    reach->retry = clock_seconds() + START_RETRY_S;
    reach->wait = LOST_RETRY_S;
}
