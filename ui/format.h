/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_FORMAT_H
#define DPARTUI_UI_FORMAT_H

/*
 * Figures as the screen shows them: short, of steady width, "-" for what is not known (NAN). Each
 * function writes into a caller's `struct figure` and returns its text.
 */
struct figure {
    char text[32];
};

/* Three digits: 0.45, 31.2, 845, 2.31k, 31.2k, 4.5M; below 0.1 two that count: 0.0014. */
const char *figure_count(struct figure *figure, double value);
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
