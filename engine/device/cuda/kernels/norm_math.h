/* SPDX-License-Identifier: MIT */
#pragma once

#include <math.h>

#include "engine/device/host_device.h"

/*
 * BatchNorm, channel by channel, in f64 (S. Ioffe, C. Szegedy, "Batch normalization", 2015; the
 * running statistics as PyTorch keeps them).
 */

/* Sums of some numbers and of their products with x. */
struct norm_moments {
    double sum, product;
};

/* From products with x - origin to products with x; with `sum` of g. */
static inline HOST_DEVICE struct norm_moments norm_move_products(struct norm_moments m,
                                                                 double origin)
{
    m.product += origin * m.sum;
    return m;
}

/* From sums of x - origin and its square to those of x, over n numbers. */
static inline HOST_DEVICE struct norm_moments norm_move_squares(struct norm_moments m,
                                                                double origin, double n)
{
    m.product += 2 * origin * m.sum + n * origin * origin;
    m.sum += n * origin;
    return m;
}

struct norm_statistics {
    double mean, variance; /* of the batch, biased */
};

/* Sums of x and of its square, over n >= 1 numbers. */
static inline HOST_DEVICE struct norm_statistics norm_statistics_of(struct norm_moments m, double n)
{
    struct norm_statistics s;
    s.mean = m.sum / n;
    s.variance = m.product / n - s.mean * s.mean;
    if (s.variance < 0)
        s.variance = 0;
    return s;
}

/* Of the numbers of both, `share` of which are b's (T. F. Chan, G. H. Golub, R. J. LeVeque,
 * "Updating formulae and a pairwise algorithm for computing sample variances", 1979). */
static inline HOST_DEVICE struct norm_statistics norm_join(struct norm_statistics a,
                                                           struct norm_statistics b, double share)
{
    const double moved = b.mean - a.mean;
    struct norm_statistics s;
    s.mean = a.mean + share * moved;
    s.variance =
        (1 - share) * a.variance + share * b.variance + share * (1 - share) * moved * moved;
    return s;
}

static inline HOST_DEVICE double norm_istd(double variance, double eps)
{
    return 1 / sqrt(variance + eps);
}

/* A running statistic after one step towards `now`. */
static inline HOST_DEVICE float norm_running(float before, double now, double momentum)
{
    return before + (float)(momentum * (now - (double)before));
}

/* y = x * scale + shift; `residual_bias`: of the residual branch, left out there. */
struct norm_affine {
    float scale, shift;
};

static inline HOST_DEVICE struct norm_affine norm_affine_of(double mean, double istd, float gamma,
                                                            float beta, float residual_bias)
{
    const double scale = (double)gamma * istd;
    struct norm_affine a;
    a.scale = (float)scale;
    a.shift = (float)((double)beta - mean * scale + (double)residual_bias);
    return a;
}

/* y without the residual. An fma by name, so that every pass finds the same value, whatever else
 * the compiler joins there. */
static inline HOST_DEVICE float norm_affine_at(float x, float scale, float shift)
{
    return fmaf(x, scale, shift);
}

/* Of sums of g and g * x: the sum of g * (x - mean). */
static inline HOST_DEVICE double norm_centred(struct norm_moments m, double mean)
{
    return m.product - mean * m.sum;
}

/* dx = scale * (g - mean(g) - xhat * mean(g * xhat)), sorted by g, x and 1: dx = a*g + b*x + c. */
struct norm_slopes {
    float a, b, c;
};

static inline HOST_DEVICE struct norm_slopes norm_slopes_of(struct norm_moments m, double n,
                                                            double mean, double istd, double scale)
{
    const double b = -scale * istd * istd * norm_centred(m, mean) / n;
    struct norm_slopes s;
    s.a = (float)scale;
    s.b = (float)b;
    s.c = (float)(-scale * m.sum / n - b * mean);
    return s;
}
