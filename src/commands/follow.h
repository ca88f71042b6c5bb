/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "client/client.h"
#include "commands/display.h"

/*
 * Show a run until it ends. Ctrl-C asks the run to stop after its step, a second one at once; a
 * hang-up or a reader that is gone ends the following, not the run. With a private engine, which
 * would end with us, the run is seen through instead.
 */
struct follow_result {
    char status[16];     /* of the run: "done", "stopped" ...; "" when it continues without us */
    char error[512];     /* why it failed */
    char log_error[256]; /* why its log is not whole */
};

struct follow_options {
    enum display_kind kind;
    enum profile_order profile; /* of a run that was profiled */
    bool private_engine;
    bool leaves; /* Ctrl-C ends the following only */
    long from;   /* number of the first event to show; 0: all */
};

bool follow_run(struct client *client, long run, const struct follow_options *options,
                struct follow_result *result, struct error *err);

/* Is the run done? Else *err says how it ended; nothing where it continues without us. */
bool follow_outcome(const struct follow_result *result, long run, struct error *err);
