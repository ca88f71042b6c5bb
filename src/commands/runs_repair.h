/* SPDX-License-Identifier: MIT */
#pragma once

#include "cli/command.h"

/*
 * `dpartui runs repair [FILE]`: make a new store of what can be read of a damaged one, or add to
 * the store what can be read of FILE. No engine may use the store.
 */
bool runs_repair(struct invocation *invocation, struct error *err);
