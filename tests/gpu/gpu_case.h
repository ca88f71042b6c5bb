/* SPDX-License-Identifier: MIT */
#pragma once

#include <check.h>

/*
 * Cases of tests that run on a GPU (tests/gpu/run), and on a simulated one (`make check`), which
 * also finds what a real one would forgive: it starts afresh for each test, and none may use memory
 * that was given back or leave anything behind.
 */
#ifndef DPARTUI_REAL_GPU
#include "tests/simgpu/simgpu.h"

#define SIMULATED true

static inline void gpu_begin(void)
{
    simgpu_reset(NULL);
    simgpu_hasten(100);
}

static inline void gpu_end(void)
{
    ck_assert_msg(simgpu_faults() == 0, "%s", simgpu_first_fault());
    ck_assert_int_eq(simgpu_live_objects(), 0);
}
#else
#define SIMULATED false

static inline void gpu_begin(void) {}

static inline void gpu_end(void) {}
#endif

static inline TCase *gpu_case(TCase *tcase, double seconds)
{
    tcase_set_timeout(tcase, seconds);
    tcase_add_checked_fixture(tcase, gpu_begin, gpu_end);
    return tcase;
}
