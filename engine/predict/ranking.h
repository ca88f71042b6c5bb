/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* A class that a network takes a row for, and how sure it is: a share of the softmax. */
struct ranked {
    int label;
    double probability;
};

/*
 * The `top` most probable of `classes` classes, by a row of logits; of equal ones the first comes
 * first, as evaluation counts them. False: some of them are no numbers.
 */
bool ranking_make(const float *logits, int classes, int top, struct ranked *out);
