/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/form/form.h"

/*
 * The batch and the learning rate for other devices than those that they were chosen for, and the
 * rate for another batch than that of the newest run of the same network and data which is done and
 * measured the noise of its gradients (experiment/noise.h).
 */
struct form_suggestion {
    int devices;
    long batch;          /* in proportion to the devices; or the form's own */
    double noise;        /* gradient noise scale in rows; NAN: no run tells it */
    double lr;           /* by the noise, where it is known; else linear */
    double linear, root; /* in proportion to the batch, and to its square root */
};

/* That run; NULL: there is none. `check` as below. */
const struct state_run *form_run_with_noise(const struct form *form, const struct state *state,
                                            const struct form_check *check);

/* False when there is nothing to suggest, as of a pipeline, whose devices all see the whole batch.
 * `check` has the names of network and data that the form leaves open; NULL: not asked. */
bool form_suggest(const struct form *form, const struct state *state,
                  const struct form_check *check, struct form_suggestion *suggestion);

/* "2 devices: batch 512, lr 0.13 (by noise 400; linear 0.2, root 0.14)": one line. */
void form_suggestion_text(const struct form_suggestion *suggestion, char *buffer, size_t size);
