/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"
#include "engine/data/data.h"

/*
 * What the kinds of data sets have in common. Each kind has a file with a `describe`, which fills
 * the shape, the classes and the number of rows without taking memory for rows, and a `load` or
 * `make`, which fills the train and test parts; dataset_free releases them, also after a failure.
 */

#define DATA_MAX_ROWS    10000000    /* per part */
#define DATA_MAX_VALUES  (1LL << 32) /* per part: pixels, or numbers */
#define DATA_MAX_CLASSES 256         /* labels are bytes */

void dataset_free(struct dataset *set);

/* Take memory for labels and for pixels or numbers; `set` holds rows and shape already. */
bool dataset_allocate(struct dataset *set, bool numbers, const char *what, struct error *err);

/* Keep the first `rows` alone, and give back the memory of the others; 0: keep all. */
void dataset_keep(struct dataset *set, long rows);

/* Every label below set->classes? `path` is the file that the labels came from. */
bool dataset_check_labels(const struct dataset *set, const char *path, struct error *err);
