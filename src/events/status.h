/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* What becomes of a run. All but the first and the last are statuses of docs/protocol.md. */
enum run_status {
    RUN_UNKNOWN,
    RUN_QUEUED,
    RUN_RUNNING,
    RUN_PAUSED,
    RUN_DONE,
    RUN_STOPPED,
    RUN_CANCELLED, /* taken out of the queue before it ever began */
    RUN_FAILED,
    RUN_INTERRUPTED, /* its engine or a host of it crashed or was killed */
    RUN_LOST /* waited or trained when the connection was lost; the engine never says this */
};

const char *run_status_name(enum run_status status);
/* By its name, which may be NULL; RUN_UNKNOWN if no engine says this. */
enum run_status run_status_find(const char *name);
/* Does it wait or train? */
bool run_status_is_live(enum run_status status);
