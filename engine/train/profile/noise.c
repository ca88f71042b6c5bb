/* SPDX-License-Identifier: MIT */
#include "engine/train/profile/noise.h"

#include <math.h>

/* What a measure leaves of the ones before: most of the mean is of a hundred. */
static const double DECAY = 0.99;

bool noise_estimate(const struct noise_shard *shards, int count, double all_squares,
                    struct noise_estimate *out)
{
    double rows = 0, sum = 0;
    int groups = 0;
    for (int i = 0; i < count; i++)
        rows += (double)shards[i].rows;
    for (int i = 0; i < count; i++)
        if (shards[i].rows > 0) {
            /* b_i |m_i|^2 / b, as squares are b_i^2 |m_i|^2 / b^2. */
            sum += shards[i].squares * rows / (double)shards[i].rows;
            groups++;
        }
    if (groups < 2)
        return false;
    out->variance = (sum - all_squares) * rows / (groups - 1);
    out->signal = all_squares - out->variance / rows;
    return isfinite(out->variance) && isfinite(out->signal);
}

void noise_add(struct noise_estimate *smoothed, const struct noise_estimate *estimate,
               double weight)
{
    const double part = (1 - DECAY) * weight;
    smoothed->signal += part * (estimate->signal - smoothed->signal);
    smoothed->variance += part * (estimate->variance - smoothed->variance);
}

double noise_rows(const struct noise_estimate *smoothed)
{
    return smoothed->signal > 0 && smoothed->variance > 0 ? smoothed->variance / smoothed->signal
                                                          : NAN;
}
