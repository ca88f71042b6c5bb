/* SPDX-License-Identifier: MIT */
#include "engine/server/tasks/fetch.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "engine/data/data.h"
#include "engine/fetch/fetch.h"

static bool report_fetch(void *context, const struct fetch_progress *progress)
{
    return task_report(context,
                       json_pack("{s:s, s:i, s:i, s:I, s:I, s:o, s:s}", "file",
                                 progress->file ? progress->file : "", "index", progress->index,
                                 "count", progress->count, "done", (json_int_t)progress->done,
                                 "total", (json_int_t)progress->total, "bytes_per_s",
                                 json_finite(progress->bytes_per_s), "phase", progress->phase));
}

bool task_fetch(struct task *task, const json_t *params, json_t **result, struct error *err)
{
    const char *dataset = NULL, *directory = NULL, *from = NULL;
    if (!json_get_string(params, "dataset", &dataset, err) ||
        !json_get_string(params, "data_dir", &directory, err) ||
        !json_get_string(params, "from", &from, err))
        return false;
    if (!dataset)
        return error_set(err, ERROR_USAGE, "'dataset' is missing");
    if (directory && directory[0] != '/')
        return error_set(err, ERROR_USAGE, "'data_dir' must be an absolute path");
    char *parent = data_directory(directory, err);
    bool ok = parent && fetch_dataset(dataset, parent, from, report_fetch, task, err);
    char *folder = ok ? path_join(parent, dataset) : NULL;
    if (folder)
        *result = json_pack("{s:o}", "folder", json_any_text(folder));
    else if (ok)
        ok = error_memory(err, "data directory");
    free(folder);
    free(parent);
    return ok;
}
