/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/norm/statistics.h"

#include <math.h>

/* y = x * scale + shift; the folded bias of the residual branch is added to the shift. */
static void set_affine(struct batchnorm *n, int c, double mean, double istd)
{
    double scale = n->gamma[c] * istd;
    stat(n, STAT_SCALE)[c] = (float)scale;
    stat(n, STAT_SHIFT)[c] =
        (float)(n->beta[c] - mean * scale + (n->residual_bias ? n->residual_bias[c] : 0));
}

/* Join the rows before a micro-batch with its own, channel by channel (Chan, Golub, LeVeque 1979,
 * Updating formulae and a pairwise algorithm for computing sample variances). *mean, *var and
 * *elements are then of both. */
static void gather(struct batchnorm *n, int c, double *mean, double *var, double *elements)
{
    const double before = (double)n->micro->rows_before * (double)n->pixels;
    const double all = before + *elements, share = *elements / all;
    const double old = n->micro->first ? *mean : n->gathered_mean[c];
    const double squares = n->micro->first ? 0 : n->gathered_squares[c], moved = *mean - old;
    n->gathered_mean[c] = old + moved * share;
    n->gathered_squares[c] = squares + *var * *elements + moved * moved * before * share;
    *mean = n->gathered_mean[c];
    *var = n->gathered_squares[c] / all;
    *elements = all;
}

/* With the last micro-batch of a mini-batch, where there are several. */
static void update_running(struct batchnorm *n, int c, double mean, double var, double elements)
{
    const double bias = n->input_bias ? (double)n->input_bias[c] : 0;
    if (n->micro)
        gather(n, c, &mean, &var, &elements);
    if (n->micro && !n->micro->last)
        return;
    n->running_mean[c] += (float)(n->momentum * (mean + bias - (double)n->running_mean[c]));
    if (elements > 1)
        n->running_var[c] +=
            (float)(n->momentum * (var * elements / (elements - 1) - (double)n->running_var[c]));
}

void batchnorm_statistics(struct batchnorm *n, int first, int count, const double *sums,
                          const double *squares, const float *origin, double elements)
{
    for (int k = 0; k < count; k++) {
        int c = first + k;
        double offset = sums[k] / elements, mean = (double)origin[k] + offset;
        double var = fmax(0, squares[k] / elements - offset * offset);
        double istd = 1 / sqrt(var + n->eps);
        stat(n, STAT_MEAN)[c] = (float)mean;
        stat(n, STAT_ISTD)[c] = (float)istd;
        set_affine(n, c, mean, istd);
        update_running(n, c, mean, var, elements);
    }
}

void batchnorm_evaluation(struct batchnorm *n)
{
    for (int c = 0; c < n->channels; c++) {
        double bias = n->input_bias ? (double)n->input_bias[c] : 0;
        set_affine(n, c, (double)n->running_mean[c] - bias,
                   1 / sqrt((double)n->running_var[c] + n->eps));
    }
}

void batchnorm_gradients(struct batchnorm *n, int first, int count, const double *sums,
                         const double *products)
{
    for (int k = 0; k < count; k++) {
        int c = first + k;
        const double product = products[k] * (double)stat(n, STAT_ISTD)[c];
        n->dgamma[c] = (float)(product + (n->adds ? (double)n->dgamma[c] : 0));
        n->dbeta[c] = (float)(sums[k] + (n->adds ? (double)n->dbeta[c] : 0));
        if (n->dinput_bias)
            n->dinput_bias[c] = 0;
        if (n->dresidual_bias)
            n->dresidual_bias[c] = n->dbeta[c];
    }
}

/* dx = scale * (g - mean(g) - xhat * mean(g * xhat)), sorted by g, x and 1. */
void batchnorm_coefficients(struct batchnorm *n, int first, int count, const double *sums,
                            const double *products, double elements)
{
    for (int k = 0; k < count; k++) {
        int c = first + k;
        double scale = (double)stat(n, STAT_SCALE)[c], istd = (double)stat(n, STAT_ISTD)[c];
        double b = -scale * istd * istd * products[k] / elements;
        stat(n, STAT_A)[c] = (float)scale;
        stat(n, STAT_B)[c] = (float)b;
        stat(n, STAT_C)[c] =
            (float)(-scale * sums[k] / elements - b * (double)stat(n, STAT_MEAN)[c]);
    }
}
