/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_SERVER_KEEPER_INSPECT_H
#define DPARTUI_ENGINE_SERVER_KEEPER_INSPECT_H

#include <pthread.h>

#include "engine/server/keeper/keeper.h"
#include "store/rescue/inspect.h"

/* The background inspection of the keeper's store, and what it found. */
struct keeper_inspection {
    struct engine_log *log;
    struct store_inspection *running; /* of the thread that starts and stops it; NULL: none is */
    pthread_mutex_t lock;             /* guards `notice`; no other lock is taken with it */
    char notice[KEEPER_NOTICE];       /* of damage that was found; "": none, or passed on */
};

void keeper_inspection_init(struct keeper_inspection *inspection, struct engine_log *log);
/* After keeper_inspection_stop. */
void keeper_inspection_free(struct keeper_inspection *inspection);

/*
 * Inspect the store at `path` if it is marked as unchecked. It must stay open for writing, and at
 * its path, until keeper_inspection_stop. A failure is logged: damage is then found when it is met.
 */
void keeper_inspection_start(struct keeper_inspection *inspection, const char *path);
/* End it if one runs, before the store is closed or another file is opened in its place. */
void keeper_inspection_stop(struct keeper_inspection *inspection);

/* Any thread: as keeper_take_notice. */
void keeper_inspection_take_notice(struct keeper_inspection *inspection, char *notice);

#endif
