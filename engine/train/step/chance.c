/* SPDX-License-Identifier: MIT */
#include "engine/train/step/chance.h"

#include <math.h>

enum { CLASSES = 256, LEAST_STEPS = 50 };

/* Standard deviations, and how large three of them may be for the accuracy to tell anything. */
#define DEVIATIONS 3
#define COARSE     0.05
#define LOSS_NOISE 1e-3

static void count_labels(const struct chance_result *result, long counts[CLASSES])
{
    for (int i = 0; i < CLASSES; i++)
        counts[i] = 0;
    for (long i = 0; i < result->rows; i++)
        counts[result->labels[result->order[i]]]++;
}

double chance_loss(const struct chance_result *result)
{
    long counts[CLASSES];
    double loss = 0;
    count_labels(result, counts);
    for (int i = 0; i < CLASSES; i++)
        if (counts[i] > 0)
            loss -= (double)counts[i] / (double)result->rows *
                    log((double)counts[i] / (double)result->rows);
    return loss;
}

bool chance_is_reached(const struct chance_result *result)
{
    long counts[CLASSES], most = 0;
    if (result->rows == 0)
        return false;
    count_labels(result, counts);
    for (int i = 0; i < CLASSES; i++)
        most = counts[i] > most ? counts[i] : most;
    double guess = (double)most / (double)result->rows;
    double noise = DEVIATIONS * sqrt(guess * (1 - guess) / (double)result->rows);
    return noise > 0 && noise <= COARSE && result->accuracy <= guess + noise &&
           result->loss >= chance_loss(result) * (1 - LOSS_NOISE);
}

long chance_epoch(long steps_per_epoch, double warmup)
{
    long long_enough = (LEAST_STEPS + steps_per_epoch - 1) / steps_per_epoch;
    return (long)fmax((double)long_enough, ceil(warmup));
}
