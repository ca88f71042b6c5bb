/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/data/pictures/list.h"
#include "engine/data/pictures/watch.h"

/* What became of the files; plain bytes, as the cache keeps it. */
struct decoded {
    int64_t rows[PICTURE_PARTS];
    int64_t skipped;
    char first_skipped[512]; /* the line about the first of them */
};

/*
 * Decode every file of the list into rows of channels x height x width bytes (shape) at `pixels`,
 * in its order, and their labels, on all processors. Broken ones end it, or are skipped, and the
 * rows after them move up.
 */
bool decode_all(const struct picture_list *list, const int shape[3], bool skip_broken,
                const struct data_watch *watch, uint8_t *pixels, uint8_t *labels,
                struct decoded *out, struct error *err);
