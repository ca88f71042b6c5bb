/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/step/ranks.h"

struct run;

/*
 * Steps that are queued on the devices before the one before them is done. Where every device
 * computes asynchronously, and all-reduces without the host, a step is given to the devices and its
 * outcome taken later, so that they always have work. Elsewhere a step is done when its task is.
 */
struct steps {
    int most;                         /* steps queued after the one that is being waited for */
    int pending;                      /* queued and not taken: those after metrics.steps */
    struct step queue[PASSES_QUEUED]; /* by their number */
    /* Passes trained with the present plans: the first loads code, the second is captured, and
     * nothing else may run at the same time. */
    long passes[PASS_SIZES];
    double last_end;   /* when the last step was taken, on clock_seconds */
    double measured_s; /* seconds of the noise's measures since they were last asked for */
    int exploded;      /* steps in a row with a loss that is far too large */
};

/* Whether steps can be queued ahead; when the devices are connected. */
void steps_begin(struct run *run);
/* Give the devices the step whose rows begin at `begin` of the epoch's order, and take those that
 * are due: metrics, events, and whether the run can continue. */
bool steps_give(struct run *run, long begin, struct error *err);
/* Take all steps that are queued. To be called before anything that happens between steps. */
bool steps_drain(struct run *run, struct error *err);
