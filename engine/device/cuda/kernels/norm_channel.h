/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/kernels/kernels.h"
#include "engine/device/cuda/kernels/launch.h"
#include "engine/device/cuda/kernels/norm_math.h"

/* What a thread does for one channel of a BatchNorm once its sums are known: at the end of the
 * kernel that made them, or, where other devices add theirs first, in one of its own. */

static inline __device__ float norm_optional(const float *vector, uint32_t c)
{
    return vector ? vector[c] : 0;
}

static inline __device__ void norm_set_affine(const struct norm_params &n, uint32_t c, double mean,
                                              double istd)
{
    const struct norm_affine affine =
        norm_affine_of(mean, istd, n.gamma[c], n.beta[c], norm_optional(n.residual_bias, c));
    n.mean[c] = (float)mean;
    n.istd[c] = (float)istd;
    n.scale[c] = affine.scale;
    n.shift[c] = affine.shift;
}

/* With those of the micro-batches before it. */
static inline __device__ struct norm_statistics
norm_gather(const struct norm_params &n, uint32_t c, struct norm_statistics own, double *count)
{
    const double before = n.micro->before * *count;
    if (before > 0) {
        struct norm_statistics gathered;
        gathered.mean = n.gathered_mean[c];
        gathered.variance = n.gathered_variance[c];
        own = norm_join(gathered, own, *count / (before + *count));
    }
    n.gathered_mean[c] = own.mean;
    n.gathered_variance[c] = own.variance;
    *count += before;
    return own;
}

/* From sums of x and its square over `count` numbers. */
static inline __device__ void norm_set_statistics(const struct norm_params &n, uint32_t c,
                                                  struct norm_moments m, double count)
{
    struct norm_statistics of = norm_statistics_of(m, count);
    norm_set_affine(n, c, of.mean, norm_istd(of.variance, n.eps));
    if (n.micro)
        of = norm_gather(n, c, of, &count);
    if (n.micro && !n.micro->last)
        return;
    const double now = of.mean + (double)norm_optional(n.input_bias, c);
    n.running_mean[c] = norm_running(n.running_mean[c], now, n.momentum);
    if (count > 1)
        n.running_var[c] =
            norm_running(n.running_var[c], of.variance * count / (count - 1), n.momentum);
}

/* From sums of g and g * x: of this device, and of all over `count` numbers. */
static inline __device__ void norm_set_gradients(const struct norm_params &n, uint32_t c,
                                                 struct norm_moments own, struct norm_moments all,
                                                 double count, const struct norm_gradients &to)
{
    const double mean = (double)n.mean[c], istd = (double)n.istd[c];
    to.dgamma[c] = (float)(norm_centred(own, mean) * istd);
    to.dbeta[c] = (float)own.sum;
    if (to.dinput_bias)
        to.dinput_bias[c] = 0;
    if (to.dresidual_bias)
        to.dresidual_bias[c] = (float)own.sum;
    if (!to.a)
        return;
    const struct norm_slopes k = norm_slopes_of(all, count, mean, istd, (double)n.scale[c]);
    to.a[c] = k.a;
    to.b[c] = k.b;
    to.c[c] = k.c;
}
