/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* What a list of runs can say of each, and be sorted by: X(id, name in the configuration). */
#define RUN_COLUMN_NAMES(X)                                                                        \
    X(RUN_COLUMN_NUMBER, "run")                                                                    \
    X(RUN_COLUMN_MODEL, "model")                                                                   \
    X(RUN_COLUMN_DATA, "data")                                                                     \
    X(RUN_COLUMN_ROWS, "rows")                                                                     \
    X(RUN_COLUMN_DEVICES, "devices")                                                               \
    X(RUN_COLUMN_STRATEGY, "strategy")                                                             \
    X(RUN_COLUMN_BATCH, "batch")                                                                   \
    X(RUN_COLUMN_LR, "lr")                                                                         \
    X(RUN_COLUMN_EPOCHS, "epochs")                                                                 \
    X(RUN_COLUMN_TEST_ACC, "acc")                                                                  \
    X(RUN_COLUMN_BEST_ACC, "best")                                                                 \
    X(RUN_COLUMN_S_PER_EPOCH, "s/epoch")                                                           \
    X(RUN_COLUMN_SPEED, "samples/s")                                                               \
    X(RUN_COLUMN_SPEED_UP, "speed-up")                                                             \
    X(RUN_COLUMN_ENERGY, "J/epoch")                                                                \
    X(RUN_COLUMN_SAMPLES_PER_J, "samples/J")                                                       \
    X(RUN_COLUMN_STATUS, "status")                                                                 \
    X(RUN_COLUMN_STARTED, "started")                                                               \
    X(RUN_COLUMN_SPLIT, "split")                                                                   \
    X(RUN_COLUMN_SYNC, "sync")                                                                     \
    X(RUN_COLUMN_NOTE, "note")

#define RUN_COLUMN_ID(id, name) id,
enum run_column { RUN_COLUMN_NAMES(RUN_COLUMN_ID) RUN_COLUMNS };
#undef RUN_COLUMN_ID

/* Which of them the user wants, and in which order. All zero: all that there is room for. */
struct run_columns {
    enum run_column column[RUN_COLUMNS];
    int count;
    char text[200]; /* as it is set: "run,model,acc"; "": the default */
};

/* From names with commas or blanks between, or "default". ERROR_USAGE names those that there are.
 */
bool run_columns_set(struct run_columns *columns, const char *text, struct error *err);
/* The same text. */
const char *run_columns_text(const struct run_columns *columns);
/* With one more, before the first that the table has after it, or without one; nothing happens
 * where it is there already, or not. */
void run_columns_add(struct run_columns *columns, enum run_column column);
void run_columns_remove(struct run_columns *columns, enum run_column column);
/* As the configuration calls it. */
const char *run_column_name(enum run_column column);
/* Is this one of them? Where none are chosen all are. */
bool run_columns_have(const struct run_columns *columns, enum run_column column);
