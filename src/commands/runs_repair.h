/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_COMMANDS_RUNS_REPAIR_H
#define DPARTUI_COMMANDS_RUNS_REPAIR_H

#include "cli/command.h"

/*
 * `dpartui runs repair [FILE]`: make a new store of what can be read of a damaged one, or add to
 * the store what can be read of FILE. No engine may use the store.
 */
bool runs_repair(struct invocation *invocation, struct error *err);

#endif
