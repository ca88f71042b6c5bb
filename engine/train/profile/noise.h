/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/*
 * The gradient noise scale: how many rows a mini-batch may have before more of them are of little
 * use. (McCandlish, Kaplan, Amodei et al., "An empirical model of large-batch training", 2018,
 * section 2.2 and appendix A.1.)
 *
 * A row's gradient is G, that of all rows, plus noise of covariance S; B_simple = tr(S) / |G|^2.
 * The mean gradient of b rows is expected to have the squared norm |G|^2 + tr(S) / b, so the norms
 * of shards and of the whole batch tell the two apart.
 */

/* What a step reports of its mini-batch. */
struct noise_shard {
    long rows;      /* 0: it has no part in the batch */
    double squares; /* of the norm of its rows' gradients, summed and divided by the batch's rows */
};

struct noise_estimate {
    double signal;   /* of |G|^2; may be negative */
    double variance; /* of tr(S) */
};

/*
 * Unbiased estimates from the shards of a mini-batch, and the squared norm of its gradient, which
 * is their sum. Shards may have different sizes: with m_i the mean gradient of shard i of b_i rows,
 * m that of all b, the sum over k shards of b_i |m_i - m|^2 is expected to be (k - 1) tr(S) (the
 * analysis of variance's mean square between groups). False: fewer than two shards have rows, or a
 * norm is not finite.
 */
bool noise_estimate(const struct noise_shard *shards, int count, double all_squares,
                    struct noise_estimate *out);

/* What a device reports of its part of a step: of its shard, or, where it has the whole mini-batch,
 * of two halves; and the squares of its part of the sum of all gradients. 0: not measured. */
struct noise_part {
    struct noise_shard shards[2];
    double sum_squares;
};

/* Smooth both over the last hundred measures or so; all zero before the first. The weight is 1 for
 * a full mini-batch, and less in proportion for one of fewer rows, whose estimate is that much
 * rougher.
 */
void noise_add(struct noise_estimate *smoothed, const struct noise_estimate *estimate,
               double weight);

/* B_simple in rows, the ratio of the two. NAN: no estimate yet, or |G|^2 cannot be told from 0. */
double noise_rows(const struct noise_estimate *smoothed);
