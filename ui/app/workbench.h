/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "remote/host.h"
#include "spec/spec.h"
#include "ui/draw/preferences.h"
#include "ui/keys/keymap.h"
#include "ui/session/runs.h"
#include "ui/session/settings_source.h"

struct workbench_options {
    struct spec spec;     /* what the form starts with; borrowed */
    struct remote remote; /* where the engine is; borrowed */
    char *const
        *hosts; /* of the page of hosts, a list that ends with NULL; borrowed; may be NULL */
    struct preferences preferences;
    const struct keymap *keys; /* borrowed; NULL: those of the table of actions */
    const struct settings_source *settings_source; /* of the settings, borrowed; NULL: none */
    run_writer *write_runs;
    const char *record; /* write the session to this file; NULL: not */
    bool start_run;     /* submit `spec` at once when the engine is idle (`make run`) */
};

/*
 * The workbench on the calling terminal until the user leaves. Refuses a terminal it cannot use
 * (no tty, TERM=dumb) with the command to use instead. Another host is reached before the screen is
 * there, so that ssh can ask for passwords. The terminal is restored in every case.
 */
bool workbench_run(const struct workbench_options *options, struct error *err);
