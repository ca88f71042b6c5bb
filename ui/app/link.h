/* SPDX-License-Identifier: MIT */
#pragma once

#include <poll.h>
#include <stdbool.h>

#include "base/error.h"
#include "remote/host.h"
#include "ui/app/playback.h"
#include "ui/app/recording.h"
#include "ui/session/ui.h"

/*
 * The workbench's line to the engine: connects, starts an engine when there is none, connects again
 * when it is lost, and matches answers to requests. Nothing here ever waits: link_step is called
 * when poll() says so or the time it asked for has come.
 */
struct link;

bool link_open(struct link **out, struct ui *ui, const struct remote *remote, struct error *err);
/* Before there is a screen: the first line to another host, for which ssh may ask the user. Waits
 * until the engine there has answered; false: it has not. Of this machine nothing. */
bool link_reach(struct link *link, struct error *err);
/* Write down all that passes; borrowed until link_close. */
void link_record(struct link *link, struct recording *recording);
/* Leave this engine for that of another host, or of this machine; `remote` as of link_open. The ui
 * has started over. */
void link_change(struct link *link, const struct remote *remote);
/* Connect to an engine that runs, once, or report to the ui that there is none: instead of
 * link_step's way of getting one. */
void link_look(struct link *link);
void link_close(struct link *link);
/* For poll(): the socket (-1: none now) and its events. */
struct pollfd link_poll(const struct link *link);
/* Whether every request has had its answer. */
bool link_quiet(const struct link *link);

enum news {
    NEWS_NONE,
    NEWS_SMALL, /* points of curves: they can wait for the state that follows within a second */
    NEWS_STATE, /* values that change all the time */
    NEWS_FULL,  /* what a user waits for: answers, events, the connection itself */
};

/* Do what can be done now and update the ui. Returns how much changed. */
enum news link_step(struct link *link);
/* When link_step wants to be called even if nothing arrives, on clock_seconds(); INFINITY: not. */
double link_deadline(const struct link *link);
