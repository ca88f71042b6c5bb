/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/dnn/conv/bench.h"

/*
 * Whether an engine computes what was asked for: elements of its result, picked over the whole
 * tensor, against plain loops on the host; sums by channel against a kernel of our own over the
 * result. An engine that adds to what it finds in its results, instead of overwriting it, is found
 * by what conv_check_dirty leaves there, and by a second run.
 */
#define CONV_CHECK_ELEMENTS 64

struct conv_check {
    struct conv_bench *bench;
    enum conv_role role; /* the result but for the sums */
    int count;
    size_t at[CONV_CHECK_ELEMENTS];
    struct conv_sum *wanted; /* of each */
    void *scratch;           /* of the kernel of our own, */
    uint32_t *counters;      /* and its counters */
    double *sums;            /* device memory, 2 x channels: what it finds */
    char fault[96];          /* of the last result that did not agree */
};

/* As conv_bench_open; conv_check_close is due in any case. */
bool conv_check_open(struct conv_check *check, struct conv_bench *bench, bool *short_of_memory);
void conv_check_close(struct conv_check *check);

/* Queue NaN over all results. */
bool conv_check_dirty(const struct conv_check *check);

/* See the run that was queued last (on the first set) to its end and look at its results. False:
 * the device is in trouble. */
bool conv_check_results(struct conv_check *check, bool *agrees);
