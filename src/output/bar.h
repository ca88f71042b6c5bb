/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * A progress line, composed for a width. `left` names the work ("epoch 3/10"); `pieces` are figures
 * in the order in which they stand, and `rank[i]` is the order by which they are given up when the
 * line is narrow (highest first; 0 outlives the bar). The bar has at least 10 columns or goes.
 */
#define BAR_PIECES 5

struct bar {
    char left[64];
    double share; /* 0 to 1; NAN: not known, no bar */
    int count;
    char piece[BAR_PIECES][64];
    int rank[BAR_PIECES];
};

void bar_add(struct bar *bar, int rank, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Escaped (base/escape.h), at most `columns` bytes and a NUL. */
void bar_compose(const struct bar *bar, int columns, char *line, size_t size);

/*
 * A line at the bottom of a terminal that is rewritten in place. It is not drawn while another job
 * has the terminal. `shown` says that it has to be cleared before anything else is written.
 */
struct bar_line {
    bool shown;
};

/* Of standard output; 80 where it is no terminal. */
int terminal_columns(void);

void bar_draw(struct bar_line *line, const struct bar *bar);
void bar_clear(struct bar_line *line);
