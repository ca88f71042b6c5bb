/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "remote/host.h"

/*
 * Run a command of dpartui on the host, about that host: `arguments` are its words, from its name
 * on, and end with NULL. It writes to our standard output and error; with `terminal`, where these
 * and the input are a terminal, it has one over there. *status is its exit status. False: the host
 * was not reached, or has no dpartui.
 */
bool remote_command(const struct remote *remote, const char *const *arguments, bool terminal,
                    int *status, struct error *err);
