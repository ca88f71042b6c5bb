/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "engine/server/viewers/options.h"

/*
 * The engine's protocol side: one thread that polls every viewer's socket and never waits for any
 * of them, the queue's thread that trains, and short-lived threads for requests that take long.
 */

enum server_end {
    SERVER_ENDED,     /* everything has been released */
    SERVER_HELD,      /* ... but for a driver that a thread hangs in: leave the process by _exit */
    SERVER_ABANDONED, /* a thread hangs in a device: leave the process by _exit */
};

/*
 * Serve until the engine is told to end. False when it cannot begin: another engine runs
 * (ERROR_USAGE), no socket can be made, ...
 */
bool server_run(const struct server_options *options, enum server_end *end, struct error *err);
