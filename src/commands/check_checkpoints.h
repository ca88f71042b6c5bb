/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

struct check_checkpoints {
    /* One line: a file that is damaged or cannot be read, and why. */
    void (*found)(void *context, const char *problem);
    /* Before each file; `share` of all that is done. */
    void (*progress)(void *context, const char *file, double share);
    void *context;
    /* Results: files that were read, of how many runs; strings about what is no damage, an array
     * for the caller to release. */
    long files, runs;
    json_t *notes;
};

/*
 * Verify every checkpoint below `folder`; one that is not there is fine. Folders of runs that the
 * store at `store` does not have, and momentum without weights, are noted.
 */
bool check_checkpoints(const char *folder, const char *store, struct check_checkpoints *check,
                       struct error *err);
