/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "spec/spec.h"

/*
 * How many of `rows` rows each of `devices` devices gets: sizes[0..devices-1], summing to rows;
 * device i takes the rows after those of the devices before it. Pure.
 *  chunk     s = ceil(rows/devices) each, the last shorter, further ones none (torch.chunk)
 *  even      equal, or ERROR_USAGE that names both numbers
 *  balanced  rows/devices each, the remainder one by one to the first (numpy.array_split)
 *  weighted  by largest remainder of rows*w/sum(w), ties to the lower index; loses no row
 *  auto      as balanced: what it begins with, while no speeds are measured (balance.h)
 */
bool split_rows(enum split_rule rule, const double *weights, long rows, int devices, long *sizes,
                struct error *err);
