/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "base/error.h"
#include "engine/log/log.h"

/*
 * The commands that users want to be notified by when a run ends. A thread of its own runs them,
 * one after another, by `sh -c`; nothing that trains waits for it. What the command may want to
 * know is in its environment: DPARTUI_RUN, DPARTUI_STATUS, DPARTUI_ACCURACY (where it is known) and
 * DPARTUI_TEXT, so that nothing has to be quoted.
 */

struct notifier;

/* A command that takes longer than `limit_s` is killed with all it has started. What goes wrong
 * with one is said in the log, which outlives the notifier. */
struct notifier *notifier_start(struct engine_log *log, double limit_s, struct error *err);
/* Let the commands that wait have their turn, all together for `limit_s` at most; NULL: none. */
void notifier_end(struct notifier *notifier);

/*
 * Have `command` run for the "end" event of a run, which `text` describes in a line. "bell" is for
 * viewers, and a run that was taken out before its turn is no news. Any thread; never waits.
 */
void notifier_post(struct notifier *notifier, const char *command, long run, const json_t *event,
                   const char *text);
