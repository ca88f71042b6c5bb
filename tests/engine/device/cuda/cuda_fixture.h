/* SPDX-License-Identifier: MIT */
#pragma once

#include "tests/reference/trial.h"

/* Devices of the CUDA backend on a simulated machine with GPUs. */

struct trial_device gpu_of(int index, enum number_type type);
/* One of f32 that is deterministic. */
struct trial_device exact_gpu(void);

/* Before each test: a new machine. */
void cuda_start(void);
/* After it: nothing is left on the machine, and it was asked for nothing that a real one would not
 * survive. */
void cuda_finish(void);
