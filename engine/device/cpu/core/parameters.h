/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/core/mapping.h"
#include "engine/device/cpu/core/onednn.h"
#include "engine/device/plan/builder.h"
#include "engine/device/plan/param_places.h"

/* In which order the numbers of a parameter lie. */
enum weights_order {
    WEIGHTS_PLAIN,   /* as they are, with zeros up to a multiple of 16 */
    WEIGHTS_MATRIX,  /* linear: each row in the order of the input's layout */
    WEIGHTS_LIBRARY, /* conv: in a format of the library, `desc` */
};

/* The weights of a convolution: groups equal parts, each of out / groups filters over `in`
 * channels. */
struct filters {
    int groups, out, in, kernel_h, kernel_w;
};

struct weights_format {
    enum weights_order order;
    struct filters filters; /* conv: of the channels as the library sees them */
    desc_t desc;            /* conv */
};

struct cpu_replica {
    struct replica base; /* first: the interface knows this one only */
    struct graph graph;
    bool bf16;           /* values are, and their gradients */
    bool lanes;          /* passes go by lanes/net.h; parameters lie in canonical order */
    struct graph folded; /* what evaluation computes: fold.h */
    struct param_places places;
    struct weights_format *formats; /* per parameter of the network */
    struct mapping memory;
    /* Of a stage, of the mini-batch so far: where statistics has a running mean the mean, where it
     * has a running variance the sum of squares about it. NULL: of a whole network. */
    double *moments;
    float grad_norm; /* what base.grad_norm points to */
};

/* Their layout: `plain` as [out][in][kernel_h][kernel_w] of one group, else `grouped`, which has
 * the group before that. NULL: no memory; release with compat_desc_free. */
desc_t filters_desc(const struct filters *filters, dnnl_data_type_t type, dnnl_format_tag_t plain,
                    dnnl_format_tag_t grouped);

/* Addresses of a parameter's numbers in the replica's arenas; NULL for NET_NONE. Running statistics
 * have no gradient: param_grads is not for them, and is called where the step is built that
 * completes the gradient. */
float *param_values(const struct builder *b, int param);
/* Where the moments of running statistics are gathered; NULL where they are not. */
double *param_moments(const struct builder *b, int param);
float *param_grads(struct builder *b, int param);
