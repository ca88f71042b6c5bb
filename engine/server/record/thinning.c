/* SPDX-License-Identifier: MIT */
#include "engine/server/record/thinning.h"

#include <math.h>

void thinning_add(struct thinning *thinning, long epoch, double score)
{
    if (!thinning->any)
        *thinning = (struct thinning){epoch, epoch, epoch, score, true};
    thinning->last = epoch;
    if (isfinite(score) && !(score <= thinning->best_score)) {
        thinning->best = epoch;
        thinning->best_score = score;
    }
}

bool thinning_keeps(const struct thinning *thinning, long epoch, long stride)
{
    return epoch % stride == 0 || epoch == thinning->first || epoch == thinning->last ||
           epoch == thinning->best;
}
