/* SPDX-License-Identifier: MIT */
#include "engine/server/socket/budget.h"

#include <math.h>

#define VIEWERS_SHARE 0.01

void budget_begin(struct budget *budget, int cpus, double now)
{
    *budget = (struct budget){.rate = VIEWERS_SHARE / BUDGET_PARTS * (cpus > 0 ? cpus : 1),
                              .counted = now};
    for (int part = 0; part < BUDGET_PARTS; part++)
        budget->seconds[part] = BUDGET_SAVED;
}

void budget_charge(struct budget *budget, enum budget_part part, double seconds)
{
    const double wait = part == BUDGET_WORK ? BUDGET_WORK_WAIT : BUDGET_ANSWERS_WAIT;
    budget->seconds[part] = fmax(budget->seconds[part] - seconds, -budget->rate * wait);
}

void budget_pay(struct budget *budget, double now)
{
    double paid = budget->rate * (now - budget->counted);
    budget->counted = now;
    for (int part = 0; part < BUDGET_PARTS; part++) {
        budget->seconds[part] += paid;
        if (budget->seconds[part] > BUDGET_SAVED)
            budget->seconds[part] = BUDGET_SAVED;
    }
}

void budget_forgive(struct budget *budget)
{
    for (int part = 0; part < BUDGET_PARTS; part++)
        if (budget->seconds[part] < 0)
            budget->seconds[part] = BUDGET_SAVED;
}

bool budget_allows(const struct budget *budget, enum budget_part part)
{
    return budget->seconds[part] >= 0;
}

double budget_allows_at(const struct budget *budget, enum budget_part part)
{
    return budget->counted - budget->seconds[part] / budget->rate;
}
