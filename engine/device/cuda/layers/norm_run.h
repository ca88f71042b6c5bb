/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/pass/plan.h"

/* BatchNorm, with the addition and ReLU after it where the fuse pass joined them. */

struct norm_scratch {
    struct buffer *own, *all; /* f64, 2 x channels: of this device, of all */
    struct buffer *partials;  /* partial sums */
};

struct norm {
    const struct device *device;
    struct tensor_shape shape;
    bool relu, sync, wants_dx;
    bool micro; /* its rows are those of a micro-batch */
    int slot;   /* of the count of numbers per channel, in the pass */
    struct norm_params params;
    struct norm_gradients gradients;
    struct buffer *stats; /* NORM_ARRAYS x channels, from forward to backward */
    struct norm_scratch forward, backward;
    struct value_sums made; /* by the convolution in front; NULL: none */
    double *host;           /* pinned: sums on their way to the other devices */
    /* values; in a plan of 0 rows NULL */
    struct buffer *x, *other, *y;
    struct buffer *mask; /* of the ReLU after an addition, from forward to backward; NULL: none */
    struct buffer *dy, *dy2, *g, *dx;
};

enum { NORM_MEAN, NORM_ISTD, NORM_SCALE, NORM_SHIFT, NORM_A, NORM_B, NORM_C, NORM_ARRAYS };

bool norm_run_statistics(struct plan *plan, void *layer, struct error *err);
bool norm_run_apply(struct plan *plan, void *layer, struct error *err);
bool norm_run_evaluation(struct plan *plan, void *layer, struct error *err);
/* Sums, and the gradients of the parameters; then that of the data. */
bool norm_run_backward_sums(struct plan *plan, void *layer, struct error *err);
bool norm_run_backward_apply(struct plan *plan, void *layer, struct error *err);
