/* SPDX-License-Identifier: MIT */
#include "engine/train/pipeline/schedule.h"

int pipeline_depth(int stage, int stages, int micro_batches)
{
    const int left = stages - stage, depth = left > 1 ? left + 1 : 1;
    return depth < micro_batches ? depth : micro_batches;
}

int pipeline_window(int micro_batches)
{
    if (micro_batches < 4)
        return micro_batches;
    return micro_batches > 12 ? 4 : micro_batches > 8 ? 3 : 2;
}

long pipeline_window_rows(const struct micro_split *split)
{
    /* The first have the most. */
    return split->count > 0 ? micro_begin(split, pipeline_window(split->count)) : 0;
}

int pipeline_schedule(int stage, int stages, int micro_batches, struct pipeline_task *tasks)
{
    int count = 0, forward = pipeline_depth(stage, stages, micro_batches);
    for (int i = 0; i < forward; i++)
        tasks[count++] = (struct pipeline_task){false, i};
    for (int i = 0; i < micro_batches; i++) {
        tasks[count++] = (struct pipeline_task){true, i};
        if (forward < micro_batches)
            tasks[count++] = (struct pipeline_task){false, forward++};
    }
    return count;
}
