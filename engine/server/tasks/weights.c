/* SPDX-License-Identifier: MIT */
#include "engine/server/tasks/weights.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/text.h"
#include "engine/train/checkpoint/checkpoint.h"

/* The weights of a run's newest or best checkpoint; a new string. */
static char *checkpoint_of_run(long run, bool best, struct error *err)
{
    long steps = -1;
    /* Also for a private engine, which keeps none of its own. */
    char *parent = checkpoint_default_folder(err);
    char *folder =
        parent ? error_if_null(text_format("%s/%ld", parent, run), err, "checkpoints") : NULL;
    bool ok = folder && (best ? checkpoint_find_best(folder, LONG_MAX, &steps, err)
                              : checkpoint_find(folder, &steps, err));
    if (!ok && err->kind == ERROR_ABSENT)
        error_set(err, ERROR_FAILED, "run %ld has no checkpoint in %s", run, parent);
    char *path = ok ? error_if_null(checkpoint_path(folder, steps), err, "checkpoints") : NULL;
    free(folder);
    free(parent);
    return path;
}

char *weights_path(const json_t *params, struct error *err)
{
    const char *file = NULL;
    long run = 0;
    bool best = false;
    if (!json_get_string(params, "file", &file, err) ||
        !json_get_long(params, "run", 1, LONG_MAX, &run, err) ||
        !json_get_bool(params, "best", &best, err))
        return NULL;
    if (!file && !run) {
        error_set(err, ERROR_USAGE, "'file' or 'run' is missing");
        return NULL;
    }
    if (!file)
        return checkpoint_of_run(run, best, err);
    if (file[0] != '/') {
        error_set(err, ERROR_USAGE, "'file' must be an absolute path");
        return NULL;
    }
    if (access(file, R_OK) != 0) {
        error_set(err, ERROR_USAGE, "%s: %s", file, strerror(errno));
        return NULL;
    }
    return error_if_null(strdup(file), err, file);
}

bool task_weights(struct task *task, const json_t *params, json_t **result, struct error *err)
{
    (void)task;
    json_t *note = NULL;
    char *path = weights_path(params, err);
    bool ok = path && checkpoint_note(path, &note, err);
    if (ok && json_object_set_new(note, "file", json_any_text(path)) != 0)
        ok = error_memory(err, path);
    if (ok)
        *result = note;
    else
        json_decref(note);
    free(path);
    return ok;
}
