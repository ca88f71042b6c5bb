/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/form/form.h"

/* The learning rate over the run that the form describes, before it starts. */

struct form_rate {
    double epoch, lr; /* passes over the rows that are done, and the rate of the step after them */
};

/* Does the rate change over the run, and is it known? */
bool form_has_rates(const struct form *form);
/* `count` places from the first step to the end of the run, by rising epoch. What the engine says
 * of the rows is in `check`; NULL: not asked, steps are then as many as in most runs. */
void form_rates(const struct form *form, const struct form_check *check, struct form_rate *rates,
                int count);
/* "lr 0.0004 in the first step, 0.1 at epoch 1, 1e-06 in the last": one line in `buffer`. */
void form_rates_text(const struct form *form, const struct form_check *check, char *buffer,
                     size_t size);
