/* SPDX-License-Identifier: MIT */
#include "tests/engine/device/cuda/cuda_fixture.h"

#include <check.h>

#include "engine/device/cuda/backend.h"
#include "tests/simgpu/simgpu.h"

struct trial_device gpu_of(int index, enum number_type type)
{
    return (struct trial_device){.backend = &cuda_backend,
                                 .options = {.id = {DEVICE_CUDA, index}, .type = type}};
}

struct trial_device exact_gpu(void)
{
    struct trial_device device = gpu_of(0, TYPE_F32);
    device.options.deterministic = true;
    return device;
}

void cuda_start(void)
{
    simgpu_reset(NULL);
}

void cuda_finish(void)
{
    ck_assert_msg(simgpu_faults() == 0, "%s", simgpu_first_fault());
    ck_assert_int_eq(simgpu_live_objects(), 0);
}
