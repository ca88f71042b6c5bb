/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "store/store.h"

/*
 * The rows of a run one after the other, in memory that does not grow with their number. They are
 * read in batches and no statement stays open in between: a reader that stands still, as one that
 * feeds a pager, keeps no snapshot of the file, which would stop the writer's log from being
 * reused. What is added after store_cursor_open is not read.
 */
enum store_rows {
    STORE_EPOCHS,
    STORE_POINTS,  /* "point" events, by their steps */
    STORE_RETUNES, /* changes while it ran */
    STORE_OTHERS,  /* all other events but the run's first, its last, profiles and timelines */
    STORE_ROWS
};

/* The member of run objects that holds them, such as "epochs". */
const char *store_rows_name(enum store_rows rows);

struct store_cursor;

/* An unknown run has no rows. The store has to stay open until store_cursor_close. */
bool store_cursor_open(struct store *store, long run, enum store_rows rows,
                       struct store_cursor **out, struct error *err);
/* *row: the next one, the caller's; NULL after the last one. */
bool store_cursor_next(struct store_cursor *cursor, json_t **row, struct error *err);
void store_cursor_close(struct store_cursor *cursor);
