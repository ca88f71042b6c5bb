/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* A table of text on standard output: columns as wide as their widest cell, two spaces between. */

struct column {
    const char *title;
    bool right; /* numbers stand at the right */
};

struct table {
    const struct column *columns;
    size_t width;  /* columns */
    char **cells;  /* row by row, owned */
    size_t filled; /* cells in use */
    int capacity;
    bool failed; /* memory ran out */
};

void table_begin(struct table *table, const struct column *columns, size_t width);
/* The next cell, copied; escaped (base/escape.h). */
void table_cell(struct table *table, const char *text);
/* Columns of a terminal that its longest line takes. */
size_t table_width(const struct table *table);
/* Release it unprinted. */
void table_free(struct table *table);
/* Print what there is and release it. */
bool table_end(struct table *table, struct error *err);
