/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * Starting `dpartui-engine`, found next to the running program or in $PATH. Either way it gets a
 * session of its own (Ctrl-C and hang-ups of the terminal do not reach it), default signal
 * dispositions, no descriptors but those named here, and an environment without the variables that
 * pin or size OpenMP teams: the engine places its own threads. An engine that cannot be executed
 * is an error here, not a silent death later.
 */

/* In the background: stdin and stdout are /dev/null, stderr goes to engine.log in the state home
 * (or, where that cannot be written, the runtime directory), the working directory is "/". Nobody
 * has to wait for it: connect until it answers. Two started at once: one wins, the other leaves.
 * *engine: its process, which is nobody's child; 0: not known. */
bool spawn_background_engine(pid_t *engine, struct error *err);

/* As a child that serves the socket `fd` (which stays the caller's) with the caller's stdio. */
bool spawn_private_engine(int fd, pid_t *child, struct error *err);

/* The last line of the background engine's log, what it ended with; a new string the caller frees.
 * NULL: none can be read. */
char *spawn_log_end(void);

/* Path of the background engine's log; a new string the caller frees. */
char *spawn_log_path(struct error *err);
