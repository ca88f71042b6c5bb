/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/train/split/stages.h"
#include "tests/suites.h"

/* Stages chosen by dynamic programming, beside trying all choices. */

enum { MOST_CUTS = 9, MOST_STAGES = 5 };

/* Whole numbers of seconds: sums of them are exact. */
struct example {
    int cuts, stages;
    double seconds[MOST_STAGES * (MOST_CUTS + 1)], transfer[MOST_CUTS], fill;
};

static void make(struct example *e, unsigned seed)
{
    unsigned short state[3] = {(unsigned short)seed, 1, 2};
    e->cuts = (int)(erand48(state) * (MOST_CUTS + 1));
    e->stages = 1 + (int)(erand48(state) * MOST_STAGES);
    /* Few different numbers in every other example: many choices are equally good there. */
    const double most = seed % 2 ? 1000 : 3;
    for (int i = 0; i < MOST_STAGES * (MOST_CUTS + 1); i++)
        e->seconds[i] = floor(erand48(state) * most);
    for (int i = 0; i < MOST_CUTS; i++)
        e->transfer[i] = floor(erand48(state) * most / 2);
    e->fill = seed % 4 < 2 ? 0 : 0.25;
}

/* What all segments before one take, on the mean over the devices. */
static double before(const struct example *e, int end)
{
    double sum = 0;
    for (int s = 0; s < e->stages; s++)
        for (int i = 0; i < end; i++)
            sum += e->seconds[s * (e->cuts + 1) + i];
    return sum / e->stages;
}

/* The slowest stage, and the sum of the transfers. */
static double judge(const struct example *e, const int *chosen, double *transfers)
{
    double slowest = 0;
    int segment = 0;
    *transfers = 0;
    for (int s = 0; s < e->stages; s++) {
        const int last = s < e->stages - 1 ? chosen[s] : e->cuts;
        const double filled = e->fill * before(e, segment);
        double sum = 0;
        for (; segment <= last; segment++)
            sum += e->seconds[s * (e->cuts + 1) + segment];
        if (s > 0)
            sum += e->transfer[chosen[s - 1]];
        if (s < e->stages - 1) {
            sum += e->transfer[chosen[s]];
            *transfers += e->transfer[chosen[s]];
        }
        slowest = fmax(slowest, sum + filled);
    }
    return slowest;
}

struct brute {
    int chosen[MOST_STAGES], best[MOST_STAGES];
    double slowest, transfers;
};

/* All choices in ascending order, so that the first of equals is the earliest. */
static void try_all(const struct example *e, struct brute *b, int count, int first)
{
    if (count < e->stages - 1) {
        for (int i = first; i < e->cuts; i++) {
            b->chosen[count] = i;
            try_all(e, b, count + 1, i + 1);
        }
        return;
    }
    double transfers;
    const double slowest = judge(e, b->chosen, &transfers);
    if (slowest < b->slowest || (!(slowest > b->slowest) && transfers < b->transfers)) {
        b->slowest = slowest;
        b->transfers = transfers;
        memcpy(b->best, b->chosen, sizeof b->best);
    }
}

START_TEST(no_choice_is_better)
{
    for (unsigned seed = 0; seed < 4000; seed++) {
        struct error err = ERROR_INIT;
        struct example e;
        struct brute b = {.slowest = INFINITY};
        int chosen[MOST_STAGES];
        make(&e, seed);
        const struct stage_costs costs = {e.seconds, e.transfer, e.fill};
        const bool possible = e.stages <= e.cuts + 1;
        ck_assert_int_eq(stages_choose(&costs, e.cuts, e.stages, chosen, &err), possible);
        if (!possible) {
            ck_assert_int_eq(err.kind, ERROR_USAGE);
            continue;
        }
        try_all(&e, &b, 0, 0);
        for (int i = 0; i < e.stages - 1; i++)
            ck_assert_msg(chosen[i] == b.best[i], "example %u, cut %d: %d, not %d", seed, i,
                          chosen[i], b.best[i]);
    }
}
END_TEST

/* The second device is three times as fast: it gets three times as much. */
START_TEST(faster_devices_get_more)
{
    struct error err = ERROR_INIT;
    double seconds[2][8];
    const double transfer[7] = {0};
    int chosen;
    for (int i = 0; i < 8; i++) {
        seconds[0][i] = 3;
        seconds[1][i] = 1;
    }
    const struct stage_costs costs = {.seconds = seconds[0], .transfer = transfer};
    ck_assert(stages_choose(&costs, 7, 2, &chosen, &err));
    ck_assert_int_eq(chosen, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("choosing stages");
    TCase *tc = tcase_create("stages");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, no_choice_is_better);
    tcase_add_test(tc, faster_devices_get_more);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}
