/* SPDX-License-Identifier: MIT */
#pragma once

#include <math.h>
#include <stdbool.h>

#include "experiment/outcome.h"

/* Where devices lose time, and how that is said. Pure. */

/* Above this efficiency no cause is named. */
#define WELL_SCALED 0.9

enum cause { CAUSE_CORES, CAUSE_SYNC, CAUSE_WAIT, CAUSE_INPUT, CAUSE_SLOWER, CAUSES };

struct loss {
    double share; /* of the time on the most devices */
    char words[240];
};

/* Have the devices more threads than there are cores? */
bool loss_is_crowded(const struct outcome *outcome, int cores);

/* What more devices lose against fewer; `cores` of the machine, 0: not known. */
void losses_of_devices(const struct outcome *outcome, const struct outcome *base, int cores,
                       struct loss losses[CAUSES]);

/* Why one is slower than a faster one, by what takes more of its devices' time for a row. */
void losses_of_strategy(const struct outcome *slow, const struct outcome *fast,
                        struct loss losses[CAUSES]);

/*
 * The largest loss, and the second where it is not much less; -1: none that is worth naming.
 */
void losses_largest(const struct loss losses[CAUSES], int *first, int *second);

/* "all-reduce" */
const char *loss_name(enum cause cause);

/* What devices are that divide their work by this strategy: " as a pipeline"; "" for rows. */
const char *loss_of_what(enum strategy strategy);

static inline double loss_or_zero(double value)
{
    return isfinite(value) ? value : 0;
}

/* Of a share, as whole numbers in sentences have it. */
static inline int loss_percent(double share)
{
    return (int)lround(100 * fmax(-1e4, fmin(share, 1e4)));
}
