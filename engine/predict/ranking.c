/* SPDX-License-Identifier: MIT */
#include "engine/predict/ranking.h"

#include <math.h>

/* The class that comes next after `before`; -1: the first of all. */
static int next_best(const float *logits, int classes, int before)
{
    int best = -1;
    for (int k = 0; k < classes; k++) {
        const bool later =
            before < 0 || logits[k] < logits[before] || (logits[k] <= logits[before] && k > before);
        if (later && (best < 0 || logits[k] > logits[best]))
            best = k;
    }
    return best;
}

bool ranking_make(const float *logits, int classes, int top, struct ranked *out)
{
    double sum = 0;
    for (int k = 0; k < classes; k++)
        if (!isfinite(logits[k]))
            return false;
    const int first = next_best(logits, classes, -1);
    const double most = (double)logits[first];
    for (int k = 0; k < classes; k++)
        sum += exp((double)logits[k] - most);
    for (int i = 0, k = first; i < top; i++, k = next_best(logits, classes, k))
        out[i] = (struct ranked){k, exp((double)logits[k] - most) / sum};
    return true;
}
