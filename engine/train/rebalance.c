/* SPDX-License-Identifier: MIT */
#include "engine/train/rebalance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/train/split.h"

static const double LEAST_GAIN = 0.05;
static const double STANDARD_ERRORS = 4;

/* No pass is that short: clocks of this resolution exist. */
static const double SHORTEST_S = 1e-9;

void rebalance_begin(struct rebalance *rebalance, const long *shares, int devices)
{
    rebalance->devices = devices;
    rebalance->steps = 0;
    memcpy(rebalance->shares, shares, (size_t)devices * sizeof *shares);
}

void rebalance_measure(struct rebalance *rebalance, const double *seconds)
{
    long measured = rebalance->steps++ - REBALANCE_SKIPPED;
    if (measured < 0)
        return;
    for (int i = 0; i < rebalance->devices; i++)
        rebalance->seconds[i][measured % REBALANCE_WINDOW] =
            fmax(seconds[i], SHORTEST_S) / (double)rebalance->shares[i];
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/*
 * The median of `count` values, and the standard error of it, relative to it: for normal noise
 * 1.2533 sigma / sqrt(count), with sigma from the quartiles, which outliers do not touch.
 */
static double median(const double *values, int count, double *relative_error)
{
    double sorted[REBALANCE_WINDOW];
    memcpy(sorted, values, (size_t)count * sizeof *values);
    qsort(sorted, (size_t)count, sizeof *sorted, compare);
    double middle = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    double sigma = (sorted[count - 1 - count / 4] - sorted[count / 4]) / 1.349;
    *relative_error = 1.2533 * sigma / sqrt(count) / middle;
    return middle;
}

/* One row each, and of the others what is left of the quotas. */
static bool ideal_shares(const double *speeds, int devices, long rows, long *shares)
{
    double total = 0, wanted[SPEC_MAX_DEVICES], most = 0;
    struct error none = ERROR_INIT;
    for (int i = 0; i < devices; i++)
        total += speeds[i];
    for (int i = 0; i < devices; i++) {
        wanted[i] = fmax(0, (double)rows * (speeds[i] / total) - 1);
        most = fmax(most, wanted[i]);
    }
    /* As many rows as devices at equal speeds: nobody wants a second one. */
    if (!(most > 0))
        return false;
    if (!split_rows(SPLIT_WEIGHTED, wanted, rows - devices, devices, shares, &none))
        return false;
    for (int i = 0; i < devices; i++)
        shares[i]++;
    return true;
}

/* Of the device that needs longest. */
static double step_seconds(const long *shares, const double *seconds, int devices)
{
    double longest = 0;
    for (int i = 0; i < devices; i++)
        longest = fmax(longest, (double)shares[i] * seconds[i]);
    return longest;
}

bool rebalance_propose(const struct rebalance *rebalance, double cost_s,
                       struct rebalance_advice *advice)
{
    int devices = rebalance->devices;
    long rows = 0, measured = rebalance->steps - REBALANCE_SKIPPED;
    double row_s[SPEC_MAX_DEVICES], error, worst = 0;
    for (int i = 0; i < devices; i++)
        rows += rebalance->shares[i];
    if (devices < 2 || rows < devices || measured < REBALANCE_LEAST)
        return false;
    int count = measured < REBALANCE_WINDOW ? (int)measured : REBALANCE_WINDOW;
    for (int i = 0; i < devices; i++) {
        row_s[i] = median(rebalance->seconds[i], count, &error);
        worst = fmax(worst, error);
        advice->rows_per_s[i] = 1 / row_s[i];
    }
    if (!ideal_shares(advice->rows_per_s, devices, rows, advice->shares))
        return false;
    double now_s = step_seconds(rebalance->shares, row_s, devices);
    double saved_s = now_s - step_seconds(advice->shares, row_s, devices);
    advice->gain = saved_s / now_s;
    return advice->gain > fmax(LEAST_GAIN, STANDARD_ERRORS * worst) &&
           saved_s * (double)rebalance->steps >= cost_s;
}
