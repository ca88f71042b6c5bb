/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "store/rows.h"

/*
 * A run that is shown or exported: all but its rows in `head`, as `show` has it, and its rows one
 * after the other, from the engine's answer or from the store, in memory that does not grow with
 * their number. The store (its run_source) has to stay open.
 */
struct run_view {
    json_t *head;
    json_t *live[STORE_ROWS]; /* the engine's; NULL: the store has them, if anybody does */
    struct store *store;      /* NULL: it has none of the run */
    bool fills_in;            /* the store has epochs that did not fit into the engine's answer */
};

/* Takes over a run object with all its rows. */
void run_view_take(struct run_view *view, json_t *run);
void run_view_free(struct run_view *view);

/* Rows of one kind, oldest first. */
struct run_rows {
    json_t *row; /* the current one, until the next call; NULL after the last one */
    struct store_cursor *cursor;
    const json_t *live;
    size_t next;
    double epoch; /* of the store's last row */
    bool failed;  /* there are no rows after that; `run_rows_close` says why */
    struct error error;
};

void run_rows_open(struct run_rows *rows, const struct run_view *view, enum store_rows kind);
/* The next row, which is the current one then. */
json_t *run_rows_next(struct run_rows *rows);
bool run_rows_close(struct run_rows *rows, struct error *err);
