/* SPDX-License-Identifier: MIT */
#pragma once

#include <pthread.h>

#include "engine/server/history/writer.h"
#include "store/rescue/inspect.h"

/* The background inspection of the history writer's store, and what it found. */
struct history_inspection {
    struct engine_log *log;
    struct store_inspection *running; /* of the thread that starts and stops it; NULL: none is */
    pthread_mutex_t lock;             /* guards `notice`; no other lock is taken with it */
    char notice[HISTORY_NOTICE];      /* of damage that was found; "": none, or passed on */
};

void history_inspection_init(struct history_inspection *inspection, struct engine_log *log);
/* After history_inspection_stop. */
void history_inspection_free(struct history_inspection *inspection);

/*
 * Inspect the store at `path` if it is marked as unchecked. It must stay open for writing, and at
 * its path, until history_inspection_stop. A failure is logged: damage is then found when it is
 * met.
 */
void history_inspection_start(struct history_inspection *inspection, const char *path);
/* End it if one runs, before the store is closed or another file is opened in its place. */
void history_inspection_stop(struct history_inspection *inspection);

/* Any thread: as history_take_notice. */
void history_inspection_take_notice(struct history_inspection *inspection, char *notice);
