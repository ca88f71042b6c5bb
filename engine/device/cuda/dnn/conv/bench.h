/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/dnn/conv/plan.h"

/*
 * Memory in which engines of one request are timed and checked: its tensors filled with random
 * numbers that the host knows. Where they are smaller than the device's L2 cache there are several
 * sets of them, so that runs in a row do not find all that they read in the cache.
 */
#define CONV_BENCH_SETS 4
/* So many random numbers are made once per tensor, fewer for a smaller one, and copied over and
 * over. A prime: with a number that divides the sizes of tensors the same products would be added
 * over and over, to sums far larger than those of random terms, and rounded as such. */
#define CONV_BENCH_NUMBERS ((size_t)262139)

struct conv_bench {
    const struct conv_maker *maker;
    const struct conv_request *request;
    void *pointers[CONV_BENCH_SETS][CONV_ROLES];
    int sets;
    void *workspace;
    size_t workspace_size;
    float *numbers[CONV_ROLES]; /* of the tensors that are read */
    cudaEvent_t begin, end;
    bool stuck; /* the GPU does not finish: to free what it uses would be to wait for it */
    struct error *err;
};

/* False: *err, or *short_of_memory, which is no error. conv_bench_close is due in any case. */
bool conv_bench_open(struct conv_bench *bench, const struct conv_maker *maker,
                     const struct conv_request *request, bool *short_of_memory, struct error *err);
void conv_bench_close(struct conv_bench *bench);

/* Have a workspace of at least `bytes`; as above. */
bool conv_bench_reserve(struct conv_bench *bench, size_t bytes, bool *short_of_memory);

/* Device memory; *short_of_memory as above. */
bool conv_bench_take(struct conv_bench *bench, void **out, size_t bytes, bool *short_of_memory);

/* Wait until all that was queued is done; never without end. */
bool conv_bench_wait(struct conv_bench *bench);
