/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "base/error.h"

/*
 * Reading a confusion matrix, as the engine's `evaluate` answers it, for those who show it: how
 * often rows of each class were taken for each class.
 */

struct confusion_class {
    const char *name; /* borrowed from the answer; "": it has none */
    long rows;        /* of the class */
    long predicted;   /* rows of any class that were taken for it */
    long right;       /* rows of it that were taken for it */
    double recall;    /* right / rows: the accuracy within the class; NAN: it has no rows */
    double precision; /* right / predicted; NAN: nothing was taken for it */
};

/* Rows of one class that were taken for another. */
struct confusion_pair {
    int label, predicted;
    long rows; /* at least 1 */
};

struct confusion_table {
    int classes;
    long rows, right;
    long most;    /* the largest count */
    long *counts; /* see confusion_at */
    struct confusion_class *class;
    struct confusion_pair *pairs; /* most rows first, then in the order of the classes */
    size_t pair_count;
};

/* False: `answer` has no whole matrix, or memory ran out. Released by confusion_table_free, on
 * failure, too; it borrows from `answer`. */
bool confusion_table_read(struct confusion_table *table, const json_t *answer, struct error *err);
void confusion_table_free(struct confusion_table *table);

/* Rows of class `label` that were taken for class `predicted`. */
static inline long confusion_at(const struct confusion_table *table, int label, int predicted)
{
    return table->counts[label * table->classes + predicted];
}

/* "shirt", "class 7" where it has no name. The buffer is for the latter. */
enum { CONFUSION_NAME = 32 };
const char *confusion_name(const struct confusion_table *table, int class, char *buffer);
