/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

/*
 * Numbers as commands and the workbench show them: short, of steady width, "-" for what is not
 * known (NAN). Each function writes into a caller's `struct figure` and returns its text.
 */
struct figure {
    char text[48];
};

/* Rates, too (samples a second), with three digits: 0.45, 31.2, 845, 2.31k, 31.2k, 4.50M; below 0.1
 * two that count: 0.0010. */
const char *figure_count(struct figure *figure, double value);
/* Seconds, without a unit: 0.060, 0.45, 1.52, 13.3, 845, 2310. */
const char *figure_seconds(struct figure *figure, double seconds);
/* 45s, 4m12s, 1h03m, 2d03h. */
const char *figure_duration(struct figure *figure, double seconds);
/* 2026-11-20 14:30, local time, of seconds since 1970. */
const char *figure_date(struct figure *figure, double seconds);
/* 17.2 GiB */
const char *figure_bytes(struct figure *figure, double bytes);
/* 12.1/139 GiB, or -/139 GiB or 12.1 GiB when the other is not known. */
const char *figure_memory(struct figure *figure, double used, double total);
/* 2.7 GFLOP, 60 FLOP */
const char *figure_flop(struct figure *figure, double operations);
/* A plain whole number. */
const char *figure_whole(struct figure *figure, double value);
/* `decimals` after the point. */
const char *figure_fixed(struct figure *figure, double value, int decimals);
/* With three of them. */
const char *figure_accuracy(struct figure *figure, double value);
/* A difference of accuracies, with its sign: +0.012; 0.000. */
const char *figure_accuracy_change(struct figure *figure, double value);
/* At most `digits` that count: 0.1, 0.05, 1e-05. */
const char *figure_digits(struct figure *figure, double value, int digits);
/* A number in JSON: six digits that count of a real one, all of an integer. */
const char *figure_json(struct figure *figure, const json_t *number);
/* 1.87x */
const char *figure_times(struct figure *figure, double value);
/* Of 0..1, and no more: 78%. */
const char *figure_percent(struct figure *figure, double fraction);
/* The same of any size: 104%. */
const char *figure_efficiency(struct figure *figure, double fraction);
