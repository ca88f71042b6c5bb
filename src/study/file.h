/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/study.h"

/*
 * Studies are kept as $XDG_DATA_HOME/dpartui/comparisons/ID.json, each file written whole or not at
 * all. Only one process at a time works on a study: it holds a lock on ID.lock next to it.
 */
struct study_lock {
    int fd;
    char *path;
};

#define STUDY_LOCK_INIT                                                                            \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/* A number for a new study, which is put into study->id, and its lock. */
bool study_claim(struct study *study, struct study_lock *lock, struct error *err);
/* The lock of an existing study; ERROR_FAILED when another process works on it. */
bool study_take(const char *id, struct study_lock *lock, struct error *err);
void study_release(struct study_lock *lock);

bool study_save(const struct study *study, struct error *err);
/* ERROR_USAGE when there is none of that number. Release with study_free. */
bool study_load(const char *id, struct study *study, struct error *err);

/* The numbers of all studies, rising: an array of integers. An empty one when there are none. */
bool study_ids(json_t **ids, struct error *err);
