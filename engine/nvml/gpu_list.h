/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/nvml/api.h"
#include "engine/telemetry/device_sensors.h"

/* What the NVIDIA driver reports of the GPUs, whether this build can train on them or not. */

#define GPU_LIST_MAX 64

/* What uses a GPU; those with the most memory are listed, the others only counted. */
#define GPU_PROCESSES 12

struct gpu_process {
    long pid;
    bool own;          /* this engine, or started by it */
    uint64_t memory;   /* bytes of the GPU's; 0: not known */
    double load;       /* of the GPU, 0 to 1, to a hundredth; NAN: not known */
    char user[33];     /* "": not known ... */
    char command[100]; /* ... for the reason below */
    char why[80];
};

/* One GPU, or one MIG instance of a GPU that is divided; a figure not known: NAN, memory 0. */
struct gpu_figures {
    char uuid[NVML_UUID_SIZE]; /* "GPU-..." or "MIG-...", by which CUDA's devices are matched */
    char name[NVML_NAME_SIZE];
    bool working;
    struct sensor_reason broken;        /* why it is not working */
    int cores;                          /* multiprocessors; 0: not known */
    uint64_t memory_total, memory_used; /* bytes */
    double load;        /* 0 to 1; on Hopper and later of the multiprocessors, before that the time
                           in which any kernel ran */
    double tensor_load; /* of the tensor cores; Hopper and later */
    double memory_load; /* of the memory's bandwidth; Hopper and later */
    struct sensor_reason no_load, no_tensor_load, no_memory_load, no_memory;
    struct device_sensors sensors; /* of a MIG instance: those of its GPU */
    int processes;                 /* as many; `no_processes`: not known */
    struct gpu_process process[GPU_PROCESSES];
    struct sensor_reason no_processes;
};

/* How many of its processes are listed. */
static inline int gpu_processes_listed(const struct gpu_figures *gpu)
{
    return gpu->processes < GPU_PROCESSES ? gpu->processes : GPU_PROCESSES;
}

struct gpu_list {
    uint64_t version; /* grows whenever a figure changed visibly */
    int count;
    struct sensor_reason none; /* why there are no GPUs; "": there are, or nobody asked */
    struct gpu_figures gpu[GPU_LIST_MAX];
};

/* The GPU with this UUID; NULL: there is none. */
const struct gpu_figures *gpu_list_find(const struct gpu_list *list, const char *uuid);

/* No figure is known, all for this reason; name and memory of the GPU stay. */
void gpu_figures_drop(struct gpu_figures *gpu, const char *reason);

/* Copy what is used of a list. */
void gpu_list_copy(struct gpu_list *to, const struct gpu_list *from);

/* Which GPU or MIG instance is meant where CUDA's environment names one. */
struct gpu_name {
    int gpu; /* NVML's index of the whole GPU */
    char gpu_uuid[NVML_UUID_SIZE];
    char mig_uuid[NVML_UUID_SIZE]; /* "": the whole GPU */
};

/*
 * Which of `count` devices CUDA shows when CUDA_VISIBLE_DEVICES is `visible` (NULL: not set): their
 * indices, cuda:0 first. NVML's order is that of CUDA_DEVICE_ORDER=PCI_BUS_ID. After the "CUDA C++
 * Programming Guide", environment variables: numbers or UUIDs, which may be cut short where they
 * stay unique; what follows a name of no device is hidden; a device named twice hides all. A
 * divided GPU stands for its first MIG instance. `order` has room for `count`.
 */
int gpus_visible(const char *visible, const struct gpu_name *names, int count, int *order);
