/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "spec/spec.h"

/* How the rows of a mini-batch are divided into micro-batches. Pure. */
struct micro_split {
    int count;    /* micro-batches, each of one row at least */
    int first;    /* so many, the first ones, have rows[0] rows; the others rows[1] */
    long rows[2]; /* rows[1]: 0 where all have rows[0] */
};

/*
 * By the rule that also divides rows over devices, into `parts`; fewer where the rows do not
 * suffice, none without rows. ERROR_USAGE: the rows cannot be divided so.
 */
bool micro_split(enum split_rule rule, long rows, int parts, struct micro_split *out,
                 struct error *err);

static inline long micro_rows(const struct micro_split *split, int index)
{
    return split->rows[index >= split->first];
}

/* Rows of the micro-batches before one. */
static inline long micro_begin(const struct micro_split *split, int index)
{
    return index <= split->first
               ? index * split->rows[0]
               : split->first * split->rows[0] + (index - split->first) * split->rows[1];
}
