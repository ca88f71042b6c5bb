/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "engine/data/data.h"

/*
 * The part of the training rows that best epochs are chosen by, and not trained on: as many rows of
 * each class as their share of all, picked by a fixed key. So it is a function of the rows' labels
 * and of the share alone. It does not depend on the seed of a run: runs with several seeds are
 * compared on the same rows, and weights that another run trained with another seed have not been
 * trained on them either.
 */

/* How many of `rows` rows are for validation. */
long validation_count(long rows, double share);

/* Rows of the training part to train on and those to validate on, ascending; the arrays are freed
 * by the caller. */
struct validation {
    long train_rows, rows;
    uint32_t *train, *own;
};

/* Divide the first `rows` training rows of data. ERROR_USAGE: a class would have no row in one of
 * the two. `out` is zero before. */
bool validation_divide(const struct data *data, long rows, double share, struct validation *out,
                       struct error *err);
