/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/* The background engine as a process, for when it does not answer. */

/* Who listens at the other end of a connected socket; 0: not known. */
pid_t peer_of_socket(int fd);
/* The process that holds the engine's lock; 0: none, or an engine that does not say. */
pid_t peer_of_lock(void);

/* Is the process stopped, by a signal or by a debugger? */
bool peer_is_stopped(pid_t pid);

/*
 * What is wrong with an engine that has not answered for `seconds` (0: that has no place for a
 * connection right now), and what to do: ERROR_SILENT. `pid` may be 0. Returns false.
 */
bool peer_error(struct error *err, pid_t pid, double seconds);
