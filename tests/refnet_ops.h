/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_TESTS_REFNET_OPS_H
#define DPARTUI_TESTS_REFNET_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/net/net.h"

/* One operation of a refnet with everything it reads and writes. */
struct ref_op {
    const struct net_op *op;
    int index, rows; /* index: of the operation in the network */
    bool training;
    struct net_shape in, out;
    const double *x, *x2; /* rows x in; x2: the second input of an add */
    double *y;            /* rows x out */
    double *weight, *bias, *running_mean, *running_var; /* NULL where there is none */
    /* Backward: the gradient of y, and sums to which the operation adds its part. */
    const double *dy;
    double *dx, *dx2, *dweight, *dbias;
    /* Dropout */
    uint64_t seed;
    uint32_t epoch;
    const uint32_t *row_numbers;
};

void ref_forward(const struct ref_op *o);
void ref_backward(const struct ref_op *o);

#endif
