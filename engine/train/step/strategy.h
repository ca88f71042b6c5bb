/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/step/worker.h"

struct ranks;

/* What a run divides over its ranks, as what they do: tasks with the struct ranks. */
struct strategy_tasks {
    worker_task prepare;       /* open the device, with a replica, plans and weights */
    worker_task change_shares; /* plans for other rows */
    worker_task step;
    worker_task evaluate;
    /* Bytes that go from device to device in a full step, all in all, and how gradients are summed.
     * For several ranks that are prepared. */
    double (*step_bytes)(const struct ranks *ranks);
    const char *(*how)(const struct ranks *ranks);
};

/* Each rank trains the whole network, with its shard of the rows. */
extern const struct strategy_tasks strategy_data;
