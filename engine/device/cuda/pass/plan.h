/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/pass/block.h"
#include "engine/device/cuda/pass/step_times.h"
#include "engine/device/cuda/replica/arenas.h"
#include "engine/device/plan/builder.h"

/*
 * A pass on a GPU: its steps queue kernels and library calls on the device's stream. What they read
 * that differs from pass to pass lies in device memory (block.h), so that the steps after the
 * input can be captured once, as CUDA graphs, and started as a whole from then on.
 */

/* Bytes that one library call may work in. */
#define CUDA_WORKSPACE_LIMIT ((size_t)256 << 20)

/* What a captured segment leaves to be queued each time, such as sums over all devices. */
struct cut {
    bool (*run)(struct plan *plan, const void *layer, const void *what, struct error *err);
    const void *layer, *what;
    cudaGraphExec_t graph; /* what follows, up to the next cut */
    struct cut *next;
};

/* Steps up to where a gradient bucket is complete, or where they change from pass to pass. */
struct segment {
    int begin, end;        /* steps */
    bool fixed;            /* they can be captured */
    int bucket_end;        /* buckets before this one are complete after it */
    cudaGraphExec_t graph; /* all of it, or up to its first cut; NULL: not captured */
    struct cut *cuts, *last_cut;
};

/* What is queued at once: all of a pass, or of a stage's one direction, for one of its slots. */
struct segments {
    struct segment *list;
    int count;
    bool warm; /* has run eagerly, so that libraries have loaded what they need */
};

/* Sums that a convolution makes of its result along the way, f32, a number per channel. */
struct value_sums {
    struct buffer *sums, *squares;
};

struct plan {
    struct plan_core core;
    struct device *device;
    struct cuda_replica *replica;
    struct pass_block pass;
    struct value_sums *sums;   /* per value of the graph */
    struct widening *widening; /* while it is built: gradients that wait for their launch */
    bool wide_logits;          /* the last layer makes them in f32 whatever the storage type */
    struct segments *passes;   /* of a stage in training two for each slot, forward and backward */
    int pass_count;
    struct step_times times;   /* of a plan made with `profile` */
    struct segment *capturing; /* NULL: steps run as they are queued */
    bool captures; /* whether segments should be captured; false once that failed, too */
    bool warm;     /* so are the segments that run */
    /* What it lacks: choices of algorithms that cannot be kept for the next time, passes
     * that are not started as graphs. "": nothing. */
    char note[200];
};
