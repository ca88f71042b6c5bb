/* SPDX-License-Identifier: MIT */
#pragma once

#include "client/client.h"
#include "remote/host.h"
#include "ui/session/ui.h"

/*
 * How the workbench gets a connection to its engine, and gets it back: when it tries, when it
 * starts an engine, and what it says meanwhile. Nothing here waits, but for the first line to
 * another host.
 */
struct reach {
    struct ui *ui;
    struct remote remote; /* borrowed */
    bool had_engine;      /* one was connected before */
    bool started;         /* an engine was started here and has not answered yet */
    double give_up;       /* when it should have, or the engine of an `opening` line */
    double retry, wait;   /* the next attempt to connect, and the pause before the one after */
    /* Of another host. */
    bool opening; /* ssh was started, and the engine has not answered yet */
    bool down;    /* the line is what is missing ... */
    double since; /* ... since that date */
    int shown;    /* seconds to the next attempt, as the screen has them; -1: not */
    char why[480];
};

void reach_init(struct reach *reach, struct ui *ui, const struct remote *remote);

/*
 * Before there is a screen: open the line to another host, which may ask for passwords. *client is
 * there at once, so that requests can be sent; reach_await waits until they are answered.
 */
bool reach_first(struct reach *reach, struct client **client, struct error *err);
bool reach_await(struct reach *reach, struct client *client, struct error *err);

/*
 * Without a client, or while its line is opening: try to get one if it is time. True: this is news.
 * When *client is there and the line is not opening, it is connected.
 */
bool reach_step(struct reach *reach, struct client **client);
/* When to call it, on clock_seconds(). */
double reach_deadline(const struct reach *reach);

/* The engine is connected, or has answered on a line that was opening. */
void reach_done(struct reach *reach);
/* The connection is lost, and the client will be closed: say so, and when to try again. */
void reach_lost(struct reach *reach, const struct client *client, const struct error *err);
