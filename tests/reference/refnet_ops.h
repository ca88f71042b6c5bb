/* SPDX-License-Identifier: MIT */
#pragma once

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

/* Place of (row, c, h, w) in a tensor of rows of this shape. */
static inline size_t ref_at(const struct net_shape *shape, int row, int c, int h, int w)
{
    return (((size_t)row * (size_t)shape->c + (size_t)c) * (size_t)shape->h + (size_t)h) *
               (size_t)shape->w +
           (size_t)w;
}

/* Values of the output. */
static inline size_t ref_values(const struct ref_op *o)
{
    return (size_t)o->rows * net_shape_size(o->out);
}

void ref_forward(const struct ref_op *o);
void ref_backward(const struct ref_op *o);
