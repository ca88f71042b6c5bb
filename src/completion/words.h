/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "settings/settings.h"

/*
 * Words for completion in a shell that only this machine knows, printed at once: no engine is
 * started for them, and one that does not answer within half a second is ignored.
 */

#define WORDS_COMPARISONS "comparisons" /* numbers of all comparisons, the newest first */
#define WORDS_DEVICES     "devices"     /* cpu:0, cpu:0-1, ..., and the GPUs of a running engine */
#define WORDS_HOSTS       "hosts"       /* those of the configuration */
#define WORDS_LIVE_RUNS   "live-runs"   /* runs that have not ended */
#define WORDS_MODELS      "models"      /* by name, those that can be found */
#define WORDS_RUNS        "runs"        /* numbers of all runs, the newest first */

/*
 * One word a line, with a description after a tab. Where something fails there are fewer words or
 * none, and no message; what another host would have to be asked for is none of them. False: there
 * is no such source.
 */
bool words_print(const char *source, const struct settings *settings);
