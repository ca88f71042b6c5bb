/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "experiment/series.h"
#include "experiment/table.h"

/*
 * What the gradient noise scale says of batches that were not tried (S. McCandlish, J. Kaplan,
 * D. Amodei and others, "An empirical model of large-batch training", 2018, section 2). With a
 * noise scale of n rows, and learning rates tuned for each batch of b rows,
 *
 *     steps to a loss    in proportion to 1 + n / b
 *     rows to a loss     in proportion to 1 + b / n
 *     learning rate      in proportion to 1 / (1 + n / b); of Adam and the like its square root
 *
 * Pure; NAN where the noise scale is not known, and in what follows from it.
 */

/* The part of each row's use that batches of so many rows waste, against very small ones: 0 to 1.
 */
double noise_waste(double noise, double batch);
/* How many times as many epochs another batch takes to the same loss. */
double noise_epochs(double noise, double batch, double other);
/* The learning rate for another batch, from one that serves `batch`. */
double noise_lr(double noise, double lr, double batch, double other);

/* "Noise scale 1900: batches up to about 1900 rows use their rows well; 512 wastes 21% of each
 * row". Into `buffer`, which is returned; "" when it is not known. */
const char *noise_sentence(double noise, double batch, char *buffer, size_t size);

/* The scale that a comparison goes by: that of its base, else of the smallest batch that has one.
 */
double noise_of_study(const struct study_table *table);
double noise_of_series(const struct series *series);

/* Devices with a batch of all of them, measured or predicted. */
struct noise_choice {
    const struct outcome *outcome; /* devices, samples_per_s */
    double batch;
};

/* How much sooner than a base they are at the same accuracy. */
struct noise_reach {
    double faster;    /* times as fast, per epoch */
    double epochs;    /* times as many */
    double sooner;    /* faster / epochs */
    double low, high; /* of sooner, by the ranges of both speeds */
};

struct noise_reach noise_reach(double noise, const struct noise_choice *choice,
                               const struct noise_choice *base);

/* The same of a row of a comparison of devices or of batches; all NAN where too little is known. */
struct noise_reach study_reach(const struct study_table *table, int row);

/* "8 devices, batch 2048: 6.1 times as fast per epoch, 1.4 times the epochs: 4.4 times as fast to
 * 0.92 (3.9-4.8)". `target_acc` NAN: to the same accuracy. Into `buffer`; "" when too little is
 * known. */
const char *noise_reach_sentence(const struct noise_reach *reach, const struct noise_choice *choice,
                                 double target_acc, char *buffer, size_t size);
