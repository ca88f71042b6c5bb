/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_SERVER_SERVER_H
#define DPARTUI_ENGINE_SERVER_SERVER_H

#include <stdbool.h>

#include "base/error.h"

/*
 * The engine's protocol side: one thread that polls every viewer's socket and never waits for any
 * of them, the queue's thread that trains, and short-lived threads for requests that take long.
 */

enum server_end {
    SERVER_ENDED,     /* everything has been released */
    SERVER_HELD,      /* ... but for a driver that a thread hangs in: leave the process by _exit */
    SERVER_ABANDONED, /* a thread hangs in a device: leave the process by _exit */
};

struct server_options {
    int log_fd; /* for messages, opened for appending; -1: none */
    const char *version;
    int private_fd; /* serve this one connection and end with it; -1: listen for this user */
    const char *system_root; /* the folder that holds /proc and /sys; NULL: "/" */
    const char *store_path;  /* where runs are kept; NULL: they end with the engine */
    const char *no_store;    /* why store_path is NULL; NULL: nobody wanted one */
    const char *places_note; /* a warning for each run, about where things are kept; NULL: none */
    const char *checkpoints; /* folder of the runs' checkpoints; NULL: none are written */
    int signal_fd; /* a signalfd: each signal read asks to end, more urgently each time; or -1 */
};

/*
 * Serve until the engine is told to end. False when it cannot begin: another engine runs
 * (ERROR_USAGE), no socket can be made, ...
 */
bool server_run(const struct server_options *options, enum server_end *end, struct error *err);

#endif
