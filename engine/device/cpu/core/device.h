/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/core/mapping.h"
#include "engine/device/cpu/core/onednn.h"
#include "engine/device/device.h"

/*
 * A device is the thread that opened it, with an OpenMP team of its own. oneDNN's primitives are
 * made for the team size of the thread that makes them and must run on that thread, outside every
 * parallel region; nothing here may be called from elsewhere.
 */
struct device {
    char name[DEVICE_NAME]; /* "cpu:1" */
    int threads;
    int block;         /* channels per block of this processor's layout: 16, 8 or 1 */
    bool bf16;         /* what it was opened for: the type of values, but of small networks */
    bool library_bf16; /* the library computes with them */
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_attr_t attr; /* scratchpads are ours */
    struct mapping workspace;   /* of the one plan that is running */
    unsigned workspace_moves;   /* how often it was replaced: plans bound before must rebind */
    struct mapping *slots;      /* of a stage: what each micro-batch keeps for its backward pass */
    int slot_count;
    bool no_lanes;    /* small networks are computed layer by layer, as large ones: tests */
    bool own_kernels; /* convolutions go by kernels of our own where they fit: tests */
    bool estimate, deterministic; /* see device_options */
};

/* The type of values as the library sees them. */
static inline dnnl_data_type_t library_type(const struct device *device, bool bf16)
{
    return bf16 && device->library_bf16 ? dnnl_bf16 : dnnl_f32;
}
