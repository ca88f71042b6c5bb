/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/nvml/gpu.h"

/*
 * Bring what uses a GPU, or a MIG instance, up to date: its processes, those with the most memory
 * first, by the driver; their users and commands by /proc, once for each process. Returns NVML's
 * code; after an error there are none.
 */
int nvml_processes_read(const struct nvml_api *api, struct nvml_gpu *gpu);
