/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether a network predicts no better than without looking at its input. Pure.
 */

/* Labels of the rows that it was evaluated on, and what it predicted there. */
struct chance_result {
    const uint8_t *labels; /* of all rows */
    const uint32_t *order; /* `rows` row numbers, those that it was evaluated on */
    long rows;
    double accuracy, loss; /* mean cross-entropy, in nats */
};

/* The mean loss of the best prediction that is the same for all rows: the entropy of the labels. */
double chance_loss(const struct chance_result *result);

/*
 * The accuracy is within three standard deviations, of a binomial distribution, of what always
 * naming the most frequent class gives, and the loss is not below chance_loss by a thousandth of
 * it. False where the rows are too few for the accuracy to tell.
 */
bool chance_is_reached(const struct chance_result *result);

/*
 * The epoch after which to look, the first that is long enough to learn in: 1, or more where epochs
 * are short, or the learning rate is warmed up for longer.
 */
long chance_epoch(long steps_per_epoch, double warmup);
