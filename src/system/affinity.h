/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* The CPUs of an engine: numbers, "0-3,8", or how many, "4", which are then the first of those that
 * it may use; not set, or empty: all of these. */
#define AFFINITY_VARIABLE "DPARTUI_CPUS"

bool affinity_check(const char *text, struct error *err);

/*
 * The CPUs that the calling thread may use, in ascending order: what taskset, the batch system or
 * the container left of the machine, and of these what the environment says. *cpus is a new array
 * of *count >= 1 that the caller frees. ERROR_USAGE: the environment leaves none.
 */
bool affinity_cpus(int **cpus, int *count, struct error *err);
/* How many they are; 1 when that cannot be read. */
int affinity_count(void);

/* Does the environment say which CPUs? */
bool affinity_is_limited(void);
/* Keep this thread, and those that it starts, on these CPUs. The environment says it no more then,
 * neither to programs that are started on other hosts, whose CPUs are others. Before there are
 * threads. */
bool affinity_apply(struct error *err);
/* The same CPUs as text, "0-3,8": a new string the caller frees; NULL: out of memory, or not known.
 */
char *affinity_text(void);
