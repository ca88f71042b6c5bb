/* SPDX-License-Identifier: MIT */
#pragma once

#include <check.h>

#include "engine/device/cuda/dnn/conv/plan.h"

/*
 * A device, simulated or a GPU, on which single convolutions are planned, run and compared with
 * plain loops. conv_setup and conv_teardown are a checked fixture.
 */
extern struct error conv_err;
extern struct conv_maker conv_maker;
/* A temporary folder, and in it the file of choices and the folder of compiled plans. */
extern char *conv_folder, *conv_cache, *conv_store;

void conv_setup(void);
void conv_teardown(void);

void conv_must(bool done); /* else fails with conv_err */

/* A convolution of 8 channels of 7x6 to 16 channels, 2 rows. */
struct conv_request conv_small_request(enum conv_pattern pattern, enum number_type type, int kernel,
                                       int stride);

/* Tensors on the device: random numbers, and NaN in what is written. */
void conv_make_tensors(const struct conv_request *r);
void conv_run_plan(const struct conv_plan *plan);
/* Fails unless the tensor is what plain loops give. */
void conv_compare(const struct conv_request *r, enum conv_role role);

/* A plan by a maker that tunes and remembers. */
struct conv_plan *conv_tuned_plan(const struct conv_request *r);
/* The file of choices; NULL: there is none. For the caller to free. */
char *conv_read_cache(void);

/* tests/engine/device/cuda/dnn/conv_tuning.c: how plans are chosen and kept. */
TCase *conv_tuning_case(void);
/* tests/engine/device/cuda/dnn/conv_faults.c: engines that fail or are wrong; on the simulated GPU.
 */
TCase *conv_faults_case(void);
