/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* The niceness of an engine, of nice(1): 0 to 19; not set, or empty: the one that it is started
 * with. */
#define PRIORITY_VARIABLE "DPARTUI_NICE"

bool priority_check(const char *text, struct error *err);

/* As the environment says, of the calling thread and those that it starts; more than they have
 * already is left. The environment says it no more then. Before there are threads. ERROR_USAGE: it
 * is no such number. */
bool priority_apply(struct error *err);

/* The niceness of the calling thread. */
int priority_nice(void);

/* The calling thread, and those that it starts, get the processor when others leave it: about a
 * tenth of what theirs would be. For good. */
void priority_lower(void);
