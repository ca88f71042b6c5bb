/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "engine/nvml/gpu_list.h"

/*
 * The GPUs as the NVIDIA driver's library NVML reports them, asked every two seconds on a separate
 * thread while somebody looks. The library is loaded when the program runs; without it there is no
 * GPU and a reason. Readers take the last answer and never wait for the driver.
 */

#define NVML_LIBRARY "libnvidia-ml.so.1"

struct nvml;

/* In seconds. */
struct nvml_pace {
    double read;     /* between two readings */
    double look;     /* between two looks for GPUs, or for a driver where there is none */
    double patience; /* that a reading may take before nothing is said to be known any more */
    double wanted;   /* without a reader, after which the driver is released */
};

struct nvml_options {
    const struct nvml_pace *pace; /* NULL: the usual one */
    const char *library;          /* to load; NULL: ask nobody, there are no GPUs */
    const char *visible;          /* CUDA_VISIBLE_DEVICES; NULL: not set */
    bool no_processes;            /* who uses the GPUs is not asked for */
};

/* What the environment says: DPARTUI_NVML ("none": ask nobody) and CUDA_VISIBLE_DEVICES. */
struct nvml_options nvml_environment(void);

bool nvml_start(struct nvml **out, const struct nvml_options *options, struct error *err);

/*
 * Does not wait long for a driver that hangs: then false, and the process must end by _exit, since
 * a thread is inside the library. NULL is fine.
 */
bool nvml_stop(struct nvml *nvml);

/*
 * Copy the last answer. Before the first answer there is no GPU; when the driver has not
 * answered for seconds, no GPU is working and nothing is known of any.
 */
void nvml_read(struct nvml *nvml, struct gpu_list *list);
uint64_t nvml_version(struct nvml *nvml);

/* Has the driver reported its GPUs for the first time? Waits for that, at most `seconds`. */
bool nvml_wait(struct nvml *nvml, double seconds);

/*
 * Have the driver asked once more, and wait for the answer, at most `seconds`. False: none came.
 */
bool nvml_renew(struct nvml *nvml, double seconds);
