/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>

#include "engine/nvml/api.h"

/*
 * A library with the symbols of NVML for tests: fake_nvml.so, and fake_nvml_old.so that lacks what
 * newer drivers brought. Tests of this process steer it by fake_nvml(); other programs by the
 * environment when it is loaded: FAKE_NVML_GPUS, FAKE_NVML_MIG, FAKE_NVML_INIT, FAKE_NVML_LOST,
 * FAKE_NVML_STALL, and FAKE_NVML_PROCESSES, "GPU:PID:GIB:PERCENT,..." (PID 0: this process), which
 * are then all that the GPUs do.
 */

enum fake_call {
    FAKE_INIT,
    FAKE_COUNT,
    FAKE_HANDLE,
    FAKE_UUID,
    FAKE_NAME,
    FAKE_MEMORY,
    FAKE_UTILIZATION,
    FAKE_TEMPERATURE,
    FAKE_POWER,
    FAKE_POWER_LIMIT,
    FAKE_ENERGY,
    FAKE_CLOCK,
    FAKE_CLOCK_MAX,
    FAKE_THROTTLE,
    FAKE_FIELDS,
    FAKE_PCIE,
    FAKE_GPM,
    FAKE_PROCESSES,
    FAKE_CALLS
};

#define FAKE_MEMORY_TOTAL (80ULL << 30)
enum { FAKE_PROCESSES_MOST = 16 };

struct fake_process {
    int gpu;
    unsigned pid;
    unsigned long long memory;
    unsigned percent;
};

struct fake_nvml {
    atomic_int gpus;
    atomic_int mig;              /* instances of each GPU; 0: they are not divided */
    atomic_int lost;             /* the GPU with this index is lost; -1: none */
    atomic_int code[FAKE_CALLS]; /* what each kind of call answers */
    atomic_int stalled;          /* the kind of call that hangs; -1: none */
    atomic_int waiting;          /* calls that hang now */
    atomic_int open;             /* nvmlInit less nvmlShutdown */
    atomic_int calls;            /* since the beginning */
    atomic_int samples;          /* of GPM that are not released */
    atomic_int gpm;              /* the GPUs have GPM */
    atomic_int watts, celsius, percent, kilobytes;
    atomic_ullong millijoules, throttle, received, sent, memory_used;
    /* Written before they are asked for: */
    int processes;
    struct fake_process process[FAKE_PROCESSES_MOST];
};

/* Also NVML's own functions are called through this symbol's library. */
struct fake_nvml *fake_nvml(void);
