/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* What the engine is started with. */
struct server_options {
    bool limited; /* it was told which CPUs it may use */
    int log_fd;   /* for messages, opened for appending; -1: none */
    bool own_log; /* it is the engine's own file, which is kept short */
    const char *version;
    int private_fd; /* serve this one connection and end with it; -1: listen for this user */
    const char *system_root; /* the folder that holds /proc and /sys; NULL: "/" */
    const char *store_path;  /* where runs are kept; NULL: they end with the engine */
    const char *no_store;    /* why store_path is NULL; NULL: none was wanted */
    const char *places_note; /* a warning for each run, about where things are kept; NULL: none */
    const char *checkpoints; /* folder of the runs' checkpoints; NULL: none are written */
    int signal_fd; /* a signalfd: each signal read asks to end, more urgently each time; or -1 */
};
