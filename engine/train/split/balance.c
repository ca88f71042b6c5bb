/* SPDX-License-Identifier: MIT */
#include "engine/train/split/balance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/train/split/split.h"

static const double LEAST_GAIN = 0.05;
static const double STANDARD_ERRORS = 4;

/* Part of what was promised that a change must keep. Where a pass has fixed costs a change saves
 * less than its promise, and is still right. */
static const double LEAST_KEPT = 0.25;

/* Shorter than any pass; some clocks are too coarse to measure one. */
static const double SHORTEST_S = 1e-9;

static void restart(struct balance *balance, const long *shares)
{
    balance->steps = 0;
    memcpy(balance->shares, shares, (size_t)balance->devices * sizeof *shares);
}

void balance_begin(struct balance *balance, const long *shares, int devices)
{
    balance->devices = devices;
    balance->change.open = false;
    balance->wait = 0;
    balance->patience = BALANCE_PATIENCE;
    restart(balance, shares);
}

void balance_measure(struct balance *balance, const double *seconds)
{
    long measured = balance->steps++ - BALANCE_SKIPPED;
    double longest = SHORTEST_S;
    if (measured < 0)
        return;
    for (int i = 0; i < balance->devices; i++) {
        double pass_s = fmax(seconds[i], SHORTEST_S);
        balance->seconds[i][measured % BALANCE_WINDOW] = pass_s / (double)balance->shares[i];
        longest = fmax(longest, pass_s);
    }
    balance->step_s[measured % BALANCE_WINDOW] = longest;
}

static int measured_steps(const struct balance *balance)
{
    long measured = balance->steps - BALANCE_SKIPPED;
    return measured < BALANCE_WINDOW ? (int)measured : BALANCE_WINDOW;
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
    double sorted[BALANCE_WINDOW];
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
    /* As many rows as devices at equal speeds: each has its one. */
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
static bool find_better(const struct balance *balance, double cost_s, struct balance_advice *advice)
{
    int devices = balance->devices, count = measured_steps(balance);
    long rows = 0;
    double row_s[SPEC_MAX_DEVICES], error, worst = 0;
    for (int i = 0; i < devices; i++) {
        rows += balance->shares[i];
        row_s[i] = median(balance->seconds[i], count, &error);
        worst = fmax(worst, error);
        advice->rows_per_s[i] = 1 / row_s[i];
    }
    if (rows < devices || !ideal_shares(advice->rows_per_s, devices, rows, advice->shares))
        return false;
    double now_s = step_seconds(balance->shares, row_s, devices);
    double saved_s = now_s - step_seconds(advice->shares, row_s, devices);
    advice->gain = saved_s / now_s;
    return advice->gain > fmax(LEAST_GAIN, STANDARD_ERRORS * worst) &&
           saved_s * (double)balance->steps >= cost_s;
}

/* If the last change did not keep its promise: back to the shares before it. */
static bool revert_failed(struct balance *balance, struct balance_advice *advice)
{
    double error;
    double step_s = median(balance->step_s, measured_steps(balance), &error);
    double saved = 1 - step_s / balance->change.step_s;
    balance->change.open = false;
    if (saved >= LEAST_KEPT * balance->change.gain) {
        balance->patience = BALANCE_PATIENCE;
        return false;
    }
    advice->back = true;
    advice->gain = balance->change.gain;
    advice->saved = saved;
    advice->wait = balance->patience;
    memcpy(advice->shares, balance->change.shares, sizeof advice->shares);
    return true;
}

bool balance_propose(struct balance *balance, double cost_s, struct balance_advice *advice)
{
    long measured = balance->steps - BALANCE_SKIPPED;
    if (balance->devices < 2 || measured < BALANCE_LEAST)
        return false;
    *advice = (struct balance_advice){.gain = 0};
    bool better = find_better(balance, cost_s, advice);
    /* The last change is judged before the next one at the latest. */
    if (balance->change.open && (better || measured >= BALANCE_WINDOW) &&
        revert_failed(balance, advice))
        return true;
    return better && balance->steps >= balance->wait;
}

void balance_change(struct balance *balance, const struct balance_advice *advice)
{
    double error;
    balance->wait = advice->wait;
    if (advice->back) {
        if (balance->patience < BALANCE_PATIENCE_MOST)
            balance->patience *= 2;
    } else {
        balance->change.open = true;
        balance->change.step_s = median(balance->step_s, measured_steps(balance), &error);
        balance->change.gain = advice->gain;
        memcpy(balance->change.shares, balance->shares, sizeof balance->change.shares);
    }
    restart(balance, advice->shares);
}
