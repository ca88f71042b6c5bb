/* SPDX-License-Identifier: MIT */
#pragma once

#include "cli/command.h"
#include "client/client.h"

/* Saved weights, as eval and predict are given them: a file, or a run's newest or best checkpoint.
 */

/* The params of `weights` for `file`, or, where it is NULL, for --run and --best; NULL: *err. */
json_t *saved_which(const struct invocation *invocation, const char *file, struct error *err);

/*
 * Ask the engine what these weights say of themselves, and make the spec of the invocation one that
 * begins with them and trains nothing: those that dpartui has written know their network, data and
 * how pictures became rows of these; the command line has the last word. Steals `which`.
 */
bool saved_take(struct client *client, struct invocation *invocation, json_t *which,
                struct error *err);
