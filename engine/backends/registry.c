/* SPDX-License-Identifier: MIT */
#include "engine/backends/registry.h"

#include "config.h"
#include "engine/device/cpu/backend.h"
#ifdef HAVE_CUDA_TOOLKIT
#include "engine/device/cuda/backend.h"
#endif

const struct backend *backend_find(enum device_kind kind, const char **why)
{
    if (kind == DEVICE_CPU)
        return &cpu_backend;
#ifdef HAVE_CUDA_TOOLKIT
    (void)why;
    return &cuda_backend;
#else
    *why = "this build has no CUDA backend (" CUDA_MISSING_TEXT "); in the folder of its source "
           "run ./bootstrap --cuda=packages";
    return NULL;
#endif
}
