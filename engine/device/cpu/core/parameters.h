/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CPU_CORE_PARAMETERS_H
#define DPARTUI_ENGINE_DEVICE_CPU_CORE_PARAMETERS_H

#include "engine/device/cpu/core/mapping.h"
#include "engine/device/cpu/core/onednn.h"
#include "engine/device/plan/builder.h"

/* Where a parameter lies in the arenas, and in which order of numbers. */
enum place_kind {
    PLACE_VECTOR,     /* as it is, with zeros up to a multiple of 16 */
    PLACE_MATRIX,     /* linear: each row in the order of the input's layout */
    PLACE_CONV,       /* in a format of the library, `desc` */
    PLACE_STATISTICS, /* a vector in `state` */
};

struct place {
    enum place_kind kind;
    size_t offset; /* floats into params, grads and each state, or into statistics */
    size_t size;   /* floats, padding included; a multiple of 16 */
    int out, in;   /* conv: channels with padding */
    desc_t desc;   /* conv */
};

struct cpu_replica {
    struct replica base; /* first: the interface knows this one only */
    struct graph graph;
    bool lanes;           /* passes go by lanes/net.h; parameters lie in canonical order */
    struct graph folded;  /* what evaluation computes: fold.h */
    struct place *places; /* per parameter of the network */
    struct mapping memory;
};

/* Addresses of a parameter's numbers in the replica's arenas; NULL for NET_NONE. Running statistics
 * have no gradient: param_grads is not for them. */
float *param_values(const struct builder *b, int param);
float *param_grads(const struct builder *b, int param);

#endif
