/* SPDX-License-Identifier: MIT */
#include "engine/data/dataset.h"

#include <stdlib.h>

void dataset_free(struct dataset *set)
{
    free(set->pixels);
    free(set->numbers);
    free(set->labels);
    *set = (struct dataset){0};
}

bool dataset_allocate(struct dataset *set, bool numbers, const char *what, struct error *err)
{
    size_t rows = (size_t)set->rows;
    size_t row = (size_t)set->channels * (size_t)set->height * (size_t)set->width;
    if (row > (size_t)DATA_MAX_VALUES / rows)
        return error_set(err, ERROR_FAILED, "%s: %zu rows of %zu values are more than %lld values",
                         what, rows, row, DATA_MAX_VALUES);
    set->labels = malloc(rows);
    if (numbers)
        set->numbers = malloc(rows * row * sizeof *set->numbers);
    else
        set->pixels = malloc(rows * row);
    if (!set->labels || (numbers ? !set->numbers : !set->pixels))
        return error_set(err, ERROR_FAILED, "%s: out of memory for %zu rows of %zu values", what,
                         rows, row);
    return true;
}

/* Less of some memory, or as much where that fails; none stays none. */
static void *shrunk(void *memory, size_t bytes)
{
    void *less = memory ? realloc(memory, bytes) : NULL;
    return less ? less : memory;
}

void dataset_keep(struct dataset *set, long rows)
{
    const size_t row = (size_t)set->channels * (size_t)set->height * (size_t)set->width;
    if (rows <= 0 || rows >= set->rows)
        return;
    set->rows = (int)rows;
    set->labels = shrunk(set->labels, (size_t)rows);
    set->pixels = shrunk(set->pixels, (size_t)rows * row);
    set->numbers = shrunk(set->numbers, (size_t)rows * row * sizeof *set->numbers);
}

bool dataset_check_labels(const struct dataset *set, const char *path, struct error *err)
{
    for (int i = 0; i < set->rows; i++)
        if (set->labels[i] >= set->classes)
            return error_set(err, ERROR_FAILED, "%s: label %d in row %d, but labels are 0 to %d",
                             path, set->labels[i], i, set->classes - 1);
    return true;
}
