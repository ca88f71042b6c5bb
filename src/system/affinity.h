/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/*
 * The CPUs that the calling thread may use, in ascending order: what taskset, the batch system or
 * the container left of the machine. *cpus is a new array of *count >= 1 that the caller frees.
 */
bool affinity_cpus(int **cpus, int *count, struct error *err);
/* How many they are; 1 when that cannot be read. */
int affinity_count(void);
