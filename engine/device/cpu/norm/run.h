/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CPU_NORM_RUN_H
#define DPARTUI_ENGINE_DEVICE_CPU_NORM_RUN_H

#include "engine/device/cpu/norm/batchnorm.h"

/* The passes over memory: steps on a struct batchnorm. */
step_function batchnorm_run_forward, batchnorm_run_evaluation, batchnorm_run_backward;
/* The output once more, into the y of a copy of the layer that has no mask. */
step_function batchnorm_run_recompute;

#endif
