/* SPDX-License-Identifier: MIT */
#pragma once

#include "cli/command.h"

/*
 * `dpartui runs delete|note|tag|repair ...`: changes of what is kept of runs. The engine
 * makes all but repairs, so one is started where none runs.
 */
typedef bool runs_change(struct invocation *invocation, struct error *err);

/* NULL: it is no such word. */
runs_change *runs_change_named(const char *word);
