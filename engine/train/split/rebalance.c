/* SPDX-License-Identifier: MIT */
#include "engine/train/split/rebalance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/train/split/split.h"

static const double LEAST_GAIN = 0.05;
static const double STANDARD_ERRORS = 4;

/* Part of what was promised that a change must keep. Where a pass has fixed costs a change saves
 * less than its promise, and is right all the same. */
static const double LEAST_KEPT = 0.25;

/* No pass is that short: clocks of this resolution exist. */
static const double SHORTEST_S = 1e-9;

static void measure_anew(struct rebalance *rebalance, const long *shares)
{
    rebalance->steps = 0;
    memcpy(rebalance->shares, shares, (size_t)rebalance->devices * sizeof *shares);
}

void rebalance_begin(struct rebalance *rebalance, const long *shares, int devices)
{
    rebalance->devices = devices;
    rebalance->change.open = false;
    rebalance->wait = 0;
    rebalance->patience = REBALANCE_PATIENCE;
    measure_anew(rebalance, shares);
}

void rebalance_measure(struct rebalance *rebalance, const double *seconds)
{
    long measured = rebalance->steps++ - REBALANCE_SKIPPED;
    double longest = SHORTEST_S;
    if (measured < 0)
        return;
    for (int i = 0; i < rebalance->devices; i++) {
        double pass_s = fmax(seconds[i], SHORTEST_S);
        rebalance->seconds[i][measured % REBALANCE_WINDOW] = pass_s / (double)rebalance->shares[i];
        longest = fmax(longest, pass_s);
    }
    rebalance->step_s[measured % REBALANCE_WINDOW] = longest;
}

static int measured_steps(const struct rebalance *rebalance)
{
    long measured = rebalance->steps - REBALANCE_SKIPPED;
    return measured < REBALANCE_WINDOW ? (int)measured : REBALANCE_WINDOW;
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

/* Shares in proportion to speed, if they are worth it. */
static bool find_better(const struct rebalance *rebalance, double cost_s,
                        struct rebalance_advice *advice)
{
    int devices = rebalance->devices, count = measured_steps(rebalance);
    long rows = 0;
    double row_s[SPEC_MAX_DEVICES], error, worst = 0;
    for (int i = 0; i < devices; i++) {
        rows += rebalance->shares[i];
        row_s[i] = median(rebalance->seconds[i], count, &error);
        worst = fmax(worst, error);
        advice->rows_per_s[i] = 1 / row_s[i];
    }
    if (rows < devices || !ideal_shares(advice->rows_per_s, devices, rows, advice->shares))
        return false;
    double now_s = step_seconds(rebalance->shares, row_s, devices);
    double saved_s = now_s - step_seconds(advice->shares, row_s, devices);
    advice->gain = saved_s / now_s;
    return advice->gain > fmax(LEAST_GAIN, STANDARD_ERRORS * worst) &&
           saved_s * (double)rebalance->steps >= cost_s;
}

/* Whether the last change kept its promise; if not, back. */
static bool find_way_back(struct rebalance *rebalance, struct rebalance_advice *advice)
{
    double error;
    double step_s = median(rebalance->step_s, measured_steps(rebalance), &error);
    double saved = 1 - step_s / rebalance->change.step_s;
    rebalance->change.open = false;
    if (saved >= LEAST_KEPT * rebalance->change.gain) {
        rebalance->patience = REBALANCE_PATIENCE;
        return false;
    }
    advice->back = true;
    advice->gain = rebalance->change.gain;
    advice->saved = saved;
    advice->wait = rebalance->patience;
    memcpy(advice->shares, rebalance->change.shares, sizeof advice->shares);
    return true;
}

bool rebalance_propose(struct rebalance *rebalance, double cost_s, struct rebalance_advice *advice)
{
    long measured = rebalance->steps - REBALANCE_SKIPPED;
    if (rebalance->devices < 2 || measured < REBALANCE_LEAST)
        return false;
    *advice = (struct rebalance_advice){.gain = 0};
    bool better = find_better(rebalance, cost_s, advice);
    /* Before the next change at the latest it must be known what the last one was good for. */
    if (rebalance->change.open && (better || measured >= REBALANCE_WINDOW) &&
        find_way_back(rebalance, advice))
        return true;
    return better && rebalance->steps >= rebalance->wait;
}

void rebalance_change(struct rebalance *rebalance, const struct rebalance_advice *advice)
{
    double error;
    rebalance->wait = advice->wait;
    if (advice->back) {
        if (rebalance->patience < REBALANCE_PATIENCE_MOST)
            rebalance->patience *= 2;
    } else {
        rebalance->change.open = true;
        rebalance->change.step_s = median(rebalance->step_s, measured_steps(rebalance), &error);
        rebalance->change.gain = advice->gain;
        memcpy(rebalance->change.shares, rebalance->shares, sizeof rebalance->change.shares);
    }
    measure_anew(rebalance, advice->shares);
}
