/* SPDX-License-Identifier: MIT */
#include "engine/server/tasks/checkpoints.h"

#include <limits.h>
#include <stdlib.h>

#include "base/json.h"
#include "engine/server/queue/resume.h"
#include "engine/train/checkpoint/folder.h"

enum { RUNS_MEASURED = 2048 };

/* Each run once, by its number. */
static bool check_runs(const json_t *runs, struct error *err)
{
    const size_t count = json_array_size(runs);
    if (!json_is_array(runs) || count > RUNS_MEASURED)
        return error_set(err, ERROR_USAGE, "'runs' must be an array of at most %d numbers",
                         RUNS_MEASURED);
    for (size_t i = 0; i < count; i++) {
        const json_int_t run = json_integer_value(json_array_get(runs, i));
        if (run < 1 || run > LONG_MAX)
            return error_set(err, ERROR_USAGE, "runs[%zu] must be the number of a run", i);
        for (size_t j = 0; j < i; j++)
            if (json_integer_value(json_array_get(runs, j)) == run)
                return error_set(err, ERROR_USAGE, "'runs' has %lld twice", (long long)run);
    }
    return true;
}

bool task_checkpoints(struct task *task, const json_t *params, json_t **result, struct error *err)
{
    json_t *runs = json_object_get(params, "runs"), *run;
    double bytes = 0;
    long count = 0;
    size_t index;
    if (!check_runs(runs, err))
        return false;
    json_array_foreach(runs, index, run)
    {
        char *folder = queue_checkpoint_folder(task->queue, (long)json_integer_value(run));
        bool ok = !folder || checkpoint_measure(folder, &count, &bytes, err);
        free(folder);
        if (!ok)
            return false;
    }
    *result = json_pack("{s:O, s:I, s:I}", "runs", runs, "count", (json_int_t)count, "bytes",
                        (json_int_t)bytes);
    return *result || error_memory(err, "checkpoints");
}
