/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_RUN_SOURCE_H
#define DPARTUI_RUN_SOURCE_H

#include <jansson.h>
#include <stdbool.h>

#include "client.h"
#include "engine/store/store.h"

/*
 * Runs as commands see them: those of the running engine, which has their newest figures, and
 * behind them all that the store keeps. No engine is started for it.
 */
struct run_source {
    struct client *client; /* NULL: no engine runs */
    struct store *store;   /* NULL: nothing was kept yet, or `unread` */
    double seconds;        /* for the engine to answer */
    struct error unread;   /* why the store cannot be read, while an engine answers */
};

/* False: neither can be asked, and that is not because there is nothing. */
bool run_source_open(struct run_source *source, struct error *err);
/*
 * For those who would rather go without: an engine that does not answer within `seconds` is as good
 * as none, and so is a store that cannot be read.
 */
void run_source_open_quickly(struct run_source *source, double seconds);
void run_source_close(struct run_source *source);

/* All run objects of docs/protocol.md, oldest first; the caller releases them. */
bool run_source_list(struct run_source *source, json_t **runs, struct error *err);

/*
 * One run with all that is known of it, as store_show has it; what the engine had to leave out is
 * filled in. ERROR_ABSENT: there is no such run.
 */
bool run_source_show(struct run_source *source, long number, json_t **run, struct error *err);

#endif
