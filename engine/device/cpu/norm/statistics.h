/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/norm/batchnorm.h"

/* The arithmetic per channel, of `count` channels from `first` on. */

/* sums: of (x - origin) and its squares over `elements` numbers, channel by channel. Fills the
 * statistics and updates the running ones. */
void batchnorm_statistics(struct batchnorm *n, int first, int count, const double *sums,
                          const double *squares, const float *origin, double elements);
/* Scale and shift from the running statistics. */
void batchnorm_evaluation(struct batchnorm *n);
/* Parameter gradients, from this device's sums of g and g*(x - mean). */
void batchnorm_gradients(struct batchnorm *n, int first, int count, const double *sums,
                         const double *products);
/* Coefficients of dx, from sums over all rows that share the statistics. */
void batchnorm_coefficients(struct batchnorm *n, int first, int count, const double *sums,
                            const double *products, double elements);
