/* SPDX-License-Identifier: MIT */
#pragma once

#include <check.h>

#include "engine/device/cuda/dnn/conv/plan.h"
#include "engine/net/net.h"

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

/* Of a NET_CONV. */
struct conv_request conv_case_request(const struct net *net, const struct net_op *op);

/* Fails the running check when a model cannot be read. */
void conv_cases_find(struct conv_cases *cases);

/* What fixtures/h200.json says of a GPU, for cuDNN and for the caller to free. */
char *conv_described_gpu(void);

/* What a request has for a 3x3 convolution of 64 channels of 28x28, with those of its output. */
#define CONV_3X3_OF_64                                                                             \
    .type = TYPE_BF16, .in = 64, .in_h = 28, .in_w = 28, .out = 64, .out_h = 28, .out_w = 28,      \
    .kernel_h = 3, .kernel_w = 3, .stride_h = 1, .stride_w = 1, .pad_h = 1, .pad_w = 1,            \
    .dilation_h = 1, .dilation_w = 1

/* tests/engine/device/cuda/dnn/conv_offers.c: what the real cuDNN offers, and what of it is timed.
 */
TCase *conv_offers_case(void);
