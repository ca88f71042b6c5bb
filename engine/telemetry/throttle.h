/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/telemetry/cpu_sensors.h"

#define MAX_QUOTAS 8

struct throttles {
    int64_t *heat_before; /* events of each of `cpus`; -1: not known */
    int next;
    int quota_fd[MAX_QUOTAS]; /* cpu.stat of the groups that have a quota */
    int64_t quota_before[MAX_QUOTAS];
    int quotas;
};

/* Look for the sensors; may be called again when the machine may have changed. */
void throttles_find_quotas(struct throttles *throttles, int root);
/* True: what can be seen of the figures has changed. */
bool throttles_read(struct throttles *throttles, int root, const int *cpus, int count,
                    struct cpu_figures *figures);
void throttles_close(struct throttles *throttles);
