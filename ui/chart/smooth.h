/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * An exponential moving average, as TensorBoard has it: of values that come one after another each
 * counts `weight` times as much as the one after it. Divided by the sum of what they count, so that
 * it does not begin near 0 (the correction of Kingma and Ba, Adam, 2015). Begins as {weight}.
 */
struct smoother {
    double weight; /* 0: values stay what they are; less than 1 */
    double sum, counts;
};

/* The average with `value`. One that is not finite is returned and does not count. */
double smoother_next(struct smoother *smoother, double value);
