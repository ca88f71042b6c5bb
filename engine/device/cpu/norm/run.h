/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/norm/batchnorm.h"

/* The passes over memory: steps on a struct batchnorm. */
step_function batchnorm_run_forward, batchnorm_run_evaluation, batchnorm_run_backward;
/* The output once more, into the y of a copy of the layer that has no mask. */
step_function batchnorm_run_recompute;
