/* SPDX-License-Identifier: MIT */
#include "ui/chart/smooth.h"

#include <math.h>

double smoother_next(struct smoother *smoother, double value)
{
    const double weight = smoother->weight;
    if (!isfinite(value))
        return value;
    smoother->sum = weight * smoother->sum + (1 - weight) * value;
    smoother->counts = weight * smoother->counts + (1 - weight);
    return smoother->sum / smoother->counts;
}
