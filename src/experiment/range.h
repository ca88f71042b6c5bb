/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/*
 * A learning-rate range test (L. N. Smith, "Cyclical Learning Rates for Training Neural Networks",
 * 2015): the rate rises by the same factor in each step of a short run, and the loss says which
 * rates train. As in fastai the loss is smoothed by an exponential mean without its bias, and more
 * than four times its least value is divergence. Pure; a number that is not known is NAN.
 */
struct range_point {
    double lr, loss, smoothed;
};

struct range {
    struct range_point *points; /* owned, by rising lr */
    int count, capacity;
    double mean;   /* of the losses, with its bias */
    double least;  /* smoothed loss */
    bool diverged; /* the rest is of no use */
};

/* Add a step; a loss that is not finite only says that it diverged. False: memory ran out. */
bool range_add(struct range *range, double lr, double loss, struct error *err);
void range_free(struct range *range);

/* The rate at which the smoothed loss falls most steeply over log lr, before it is least; NAN: it
 * hardly falls. */
double range_steepest(const struct range *range);
/* The rate of the least smoothed loss. */
double range_lowest(const struct range *range);
