/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/*
 * What viewers may cost a run: 1 % of the machine's time, half of it for what the serving thread
 * does, half for what requests have computed on separate threads. Each half pays for itself, so
 * that a request to stop a run never waits for somebody's large network. Costs are known when they
 * have arisen: a half that is below 0 has nothing done until time has paid for it.
 *
 * Pure: the caller has the clocks.
 */
enum budget_part { BUDGET_ANSWERS, BUDGET_WORK, BUDGET_PARTS };

/* Seconds of the processor that each half may save up. */
#define BUDGET_SAVED 0.1

/*
 * Seconds that a half makes others wait at most, whatever a request has cost: on a slow machine one
 * answer about a long run may cost more than a viewer has the patience to wait for.
 */
#define BUDGET_ANSWERS_WAIT 2.0
#define BUDGET_WORK_WAIT    10.0

struct budget {
    double rate; /* seconds of the processor that a second pays each half */
    double seconds[BUDGET_PARTS];
    double counted; /* the time up to which has been paid */
};

/* Both halves full, on a machine with this many CPUs. */
void budget_begin(struct budget *budget, int cpus, double now);

void budget_charge(struct budget *budget, enum budget_part part, double seconds);

/* Pay for the time that has passed. */
void budget_pay(struct budget *budget, double now);

/* No run is training: what was spent slowed nobody. */
void budget_forgive(struct budget *budget);

bool budget_allows(const struct budget *budget, enum budget_part part);

/* When the part allows something again, if nothing is spent until then; `counted` or earlier: now.
 */
double budget_allows_at(const struct budget *budget, enum budget_part part);
