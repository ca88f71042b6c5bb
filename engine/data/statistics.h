/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "engine/data/data.h"

/*
 * Mean and population standard deviation of each channel of a data set's pixels, as numbers from 0
 * to 1, over `count` rows: those that `rows` numbers, in any order, or the first where it is NULL;
 * at least one. `mean` and `std` get a number for each channel. Pixels are counted by their value,
 * so sums are exact, and the same whatever computes them.
 */
void dataset_statistics(const struct dataset *set, const uint32_t *rows, long count, double *mean,
                        double *std);
