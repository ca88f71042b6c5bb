/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * A run's figures over its steps, thinned out to what a chart can show: each point sums up several
 * successive steps, a 256th of the run. A run that grows beyond what was planned does not make more
 * than CURVE_MOST points: pairs of them are merged then, and the later ones sum up twice as many
 * steps.
 */

#define CURVE_MOST 1024

struct point {
    double epoch;     /* passes over the training rows up to its last step */
    long step, steps; /* its last one, how many */
    long rows, correct;
    double loss_sum; /* over rows */
    double seconds;
    double lr; /* of the last step */
};

struct curve {
    struct point *points; /* owned */
    size_t count;
    int capacity;
    struct point open; /* not complete; steps 0: not begun */
    long stride;       /* steps of a point */
    long train_rows;   /* of a pass; 0: unknown */
    long epoch, epoch_rows;
};

/* Zeros are an empty curve. Take what a "run" event says of the run's size. */
void curve_begin(struct curve *curve, const json_t *run_event);
/* Take a "step" event. True: it completed a point, which is in *point. */
bool curve_add(struct curve *curve, const json_t *step_event, struct point *point);
/* At the end: true if there were steps that made no whole point; they make *point. */
bool curve_end(struct curve *curve, struct point *point);
void curve_free(struct curve *curve);

/* A "point" event. */
json_t *point_json(const struct point *point);
