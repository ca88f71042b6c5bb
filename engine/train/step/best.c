/* SPDX-License-Identifier: MIT */
#include "engine/train/step/best.h"

#include <math.h>
#include <stdio.h>

#include "base/text.h"

void best_begin(struct best *best)
{
    *best = (struct best){.score = NAN};
}

void best_take(struct best *best, double score, long epoch)
{
    best->newest = isfinite(score) && !(score <= best->score);
    best->since = best->newest ? 0 : best->since + 1;
    if (best->newest) {
        best->score = score;
        best->epoch = epoch;
    }
}

void best_decide(struct best *best, const struct spec *spec, bool validation, double score)
{
    const char *what = validation ? "validation" : "test";
    if (spec->stop_at_acc > 0 && score >= spec->stop_at_acc)
        snprintf(best->reason, sizeof best->reason, "%s accuracy %.4f has reached %g", what, score,
                 spec->stop_at_acc);
    else if (spec->patience > 0 && best->since >= spec->patience)
        snprintf(best->reason, sizeof best->reason,
                 "no better %s accuracy for %ld epoch%s: the best is %.4f, of epoch %ld", what,
                 best->since, plural(best->since), best->score, best->epoch);
}
