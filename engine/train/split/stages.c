/* SPDX-License-Identifier: MIT */
#include "engine/train/split/stages.h"

#include <math.h>
#include <stdlib.h>

/*
 * Stages begin and end at points: 0 is the network's input, points 1 to `cuts` are the cuts and
 * the last one, `end`, is the output.
 */
struct search {
    const struct stage_costs *costs;
    int stages, end;
    double *sums;   /* [stage][point]: seconds of all segments before the point */
    double *before; /* [point]: the mean of that over the stages */
    double *best; /* [stage][point]: of the stages from this one on, when it begins at the point */
    double limit; /* INFINITY: `best` is the slowest stage; else the sum of the transfers, where no
                   * stage may be slower than this */
};

static double *at(const struct search *s, double *table, int stage, int point)
{
    return &table[(size_t)stage * ((size_t)s->end + 1) + (size_t)point];
}

static double transfer(const struct search *s, int point)
{
    return point > 0 && point < s->end ? s->costs->transfer[point - 1] : 0;
}

/* What a stage between two points and those after it come to, which are worth `rest`. */
static double stage_and_rest(const struct search *s, int stage, int from, int to, double rest)
{
    const double seconds = *at(s, s->sums, stage, to) - *at(s, s->sums, stage, from) +
                           transfer(s, from) + transfer(s, to) + s->costs->fill * s->before[from];
    if (isinf(s->limit))
        return fmax(seconds, rest);
    return seconds <= s->limit ? transfer(s, to) + rest : INFINITY;
}

static double best_from(const struct search *s, int stage, int from)
{
    double best = INFINITY;
    if (stage == s->stages - 1)
        return stage_and_rest(s, stage, from, s->end, 0);
    for (int to = from + 1; to < s->end; to++)
        best = fmin(best, stage_and_rest(s, stage, from, to, *at(s, s->best, stage + 1, to)));
    return best;
}

static double solve(struct search *s, double limit)
{
    s->limit = limit;
    for (int stage = s->stages - 1; stage > 0; stage--)
        for (int from = 1; from < s->end; from++)
            *at(s, s->best, stage, from) = best_from(s, stage, from);
    return *at(s, s->best, 0, 0) = best_from(s, 0, 0);
}

static void sum_up(struct search *s)
{
    for (int stage = 0; stage < s->stages; stage++) {
        *at(s, s->sums, stage, 0) = 0;
        for (int i = 0; i < s->end; i++)
            *at(s, s->sums, stage, i + 1) =
                *at(s, s->sums, stage, i) +
                s->costs->seconds[(size_t)stage * (size_t)s->end + (size_t)i];
    }
    for (int i = 0; i <= s->end; i++) {
        double sum = 0;
        for (int stage = 0; stage < s->stages; stage++)
            sum += *at(s, s->sums, stage, i);
        s->before[i] = sum / s->stages;
    }
}

/* The first points that are as good as the best. */
static void choose(const struct search *s, int *chosen)
{
    int from = 0;
    for (int stage = 0; stage < s->stages - 1; stage++) {
        int to = from + 1;
        while (stage_and_rest(s, stage, from, to, *at(s, s->best, stage + 1, to)) >
               *at(s, s->best, stage, from))
            to++;
        chosen[stage] = to - 1;
        from = to;
    }
}

bool stages_choose(const struct stage_costs *costs, int cuts, int stages, int *chosen,
                   struct error *err)
{
    if (stages < 1 || stages > cuts + 1)
        return error_set(err, ERROR_USAGE, "%d stages: the network can be cut into %d at most",
                         stages, cuts + 1);
    const size_t size = (size_t)stages * ((size_t)cuts + 2) * sizeof(double);
    struct search s = {.costs = costs,
                       .stages = stages,
                       .end = cuts + 1,
                       .sums = malloc(size),
                       .before = malloc(((size_t)cuts + 2) * sizeof(double)),
                       .best = malloc(size)};
    const bool ok = s.sums && s.before && s.best;
    if (ok) {
        sum_up(&s);
        solve(&s, solve(&s, INFINITY));
        choose(&s, chosen);
    } else {
        error_memory(err, "choosing the stages of a pipeline");
    }
    free(s.sums);
    free(s.before);
    free(s.best);
    return ok;
}
