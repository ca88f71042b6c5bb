/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_DRAW_FORMAT_H
#define DPARTUI_UI_DRAW_FORMAT_H

#include "base/figure.h"

/*
 * Figures as the screen shows them: short, of steady width, "-" for what is not known (NAN). Each
 * function writes into a caller's `struct figure` and returns its text.
 */
struct figure {
    char text[FIGURE_SIZE];
};

/* As base/figure.h has them. */
const char *figure_count(struct figure *figure, double value);
const char *figure_seconds(struct figure *figure, double seconds);
/* A plain whole number. */
const char *figure_whole(struct figure *figure, double value);
/* `decimals` behind the point. */
const char *figure_fixed(struct figure *figure, double value, int decimals);
/* As short as it can be told apart: 0.1, 0.05, 1e-05. */
const char *figure_short(struct figure *figure, double value);
/* 1.87x */
const char *figure_times(struct figure *figure, double value);
/* Of 0..1: 78%. */
const char *figure_percent(struct figure *figure, double fraction);
/* 45s, 4m12s, 1h03m, 2d03h. */
const char *figure_duration(struct figure *figure, double seconds);
/* 12.1/139 GiB, or -/139 GiB or 12.1 GiB when the other is not known. */
const char *figure_memory(struct figure *figure, double used, double total);

#endif
