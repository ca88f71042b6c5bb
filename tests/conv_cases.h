/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_TESTS_CONV_CASES_H
#define DPARTUI_TESTS_CONV_CASES_H

#include "engine/device/cuda/conv_plan.h"

/*
 * The convolutions of the models that are shipped, as the CUDA backend computes them: channels
 * filled up, the first of a network as a product with what the input kernel gathered (im2col).
 * Those that are alike are there once. pattern, type and rows are left to the caller.
 */
#define CONV_CASES_LIMIT 64

struct conv_case {
    struct conv_request request;
    char model[32]; /* the first model that has it */
    bool first;     /* no gradient of the data is wanted */
    int h;          /* of the network's input */
};

struct conv_cases {
    int count;
    struct conv_case list[CONV_CASES_LIMIT];
};

/* Fails the running check when a model cannot be read. */
void conv_cases_find(struct conv_cases *cases);

#endif
