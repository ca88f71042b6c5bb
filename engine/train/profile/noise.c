/* SPDX-License-Identifier: MIT */
#include "engine/train/profile/noise.h"

#include <math.h>

#include "engine/device/device.h"

/* Of the weight of a step, what is left a step later: most of the sum is of 100 steps. */
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

bool noise_of_parts(const struct noise_part *const *parts, int count, struct noise_estimate *out)
{
    struct noise_shard shards[2 * SPEC_MAX_DEVICES];
    double all_squares = 0;
    int found = 0;
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < 2; j++)
            if (parts[i]->shards[j].rows > 0)
                shards[found++] = parts[i]->shards[j];
        all_squares += parts[i]->sum_squares;
    }
    return all_squares > 0 && noise_estimate(shards, found, all_squares, out);
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
