/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/device.h"

bool cpu_enumerate(struct device_info *list, int capacity, int *count, char *why, size_t why_size,
                   struct error *err);
/* Cores of the affinity mask the process was started with, fewer where its cgroup has a quota. */
int cpu_cores(void);
/* Whether CPU devices here compute in a type: struct backend. */
bool cpu_computes_in(enum number_type type, const char **why);
/* "AMD EPYC"; "processor" where the system does not say. */
void cpu_processor_name(char *name, size_t size);
