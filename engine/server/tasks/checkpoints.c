/* SPDX-License-Identifier: MIT */
#include "engine/server/tasks/checkpoints.h"

#include <stdlib.h>

#include "base/json.h"
#include "engine/server/queue/resume.h"
#include "engine/train/checkpoint/folder.h"

enum { RUNS_MEASURED = 2048 };

bool task_checkpoints(struct task *task, const json_t *params, json_t **result, struct error *err)
{
    json_t *runs = json_object_get(params, "runs"), *run;
    double bytes = 0;
    long count = 0;
    size_t index;
    if (!json_is_array(runs) || json_array_size(runs) > RUNS_MEASURED)
        return error_set(err, ERROR_USAGE, "'runs' must be an array of at most %d numbers",
                         RUNS_MEASURED);
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
