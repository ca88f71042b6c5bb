/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/split/balance.h"
#include "engine/train/step/ranks.h"

struct run;

/*
 * `split auto`: from step to step the devices are measured, and between two steps they may get
 * other shares. Gradients are those of the whole batch however it is divided (logit gradients carry
 * 1/global_rows), so nothing but time depends on it.
 */
struct load_balance {
    struct balance balance;
    bool advised; /* shares are to change as `advice` says */
    struct balance_advice advice;
    double change_s; /* what a change of the shares costs, by the last one */
};

/* Begin to measure, with the shares that the ranks were prepared for. */
void load_balance_begin(struct load_balance *lb, const struct ranks *ranks);
/* After every step: other shares from the next step on if they pay. */
bool load_balance_step(struct run *run, const struct step *step, struct error *err);
