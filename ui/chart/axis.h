/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"
#include "ui/draw/preferences.h"
#include "ui/state/state.h"

/*
 * Where on the x axis the epochs of a run lie: at its steps, or at the seconds it has trained,
 * without evaluation. Both rise with the epochs, from 0 where the run begins, which is not its
 * first epoch where it resumes another one. Seconds are known of whole epochs; within the running
 * one they follow from its rows per second.
 */
struct axis {
    enum x_axis kind;
    struct axis_knot {
        double epoch, x;
    } * knots; /* owned; the places between lie on straight lines */
    int count;
    int whole; /* of the knots those of whole epochs, whose pace is that of all that is to come */
};

/* False: memory ran out. Release with axis_close, also after false. */
bool axis_open(struct axis *axis, enum x_axis kind, const struct state_run *run, struct error *err);
void axis_close(struct axis *axis);

/* Is anything known of it? Else no epoch has a place. */
bool axis_is_known(const struct axis *axis);
/* The place of an epoch, and the epoch at a place; before and after what is known at the same pace.
 */
double axis_at(const struct axis *axis, double epoch);
double axis_epoch(const struct axis *axis, double x);

/* The end of an axis for a run whose end is estimated: rounded up, so that it seldom moves. */
double axis_end(double x);
