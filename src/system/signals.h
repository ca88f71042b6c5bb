/* SPDX-License-Identifier: MIT */
#pragma once

#include <signal.h>
#include <stdbool.h>

#include "base/error.h"

/*
 * Signals as something to poll: while they are open, SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT and
 * SIGWINCH are blocked and read from a descriptor, so that nothing ever runs inside a handler.
 */
struct signals {
    int fd;
    sigset_t watched, before; /* the mask to go back to */
};

bool signals_open(struct signals *signals, struct error *err);
void signals_close(struct signals *signals);
/* The next signal that arrived, 0 when there is none. */
int signals_next(struct signals *signals);
/* In a child before it becomes another program: default actions, and none blocked. Safe there. */
void signals_reset(void);
/* Stop this process as Ctrl-Z does without us, and return when it is continued. */
void signals_stop_here(void);
