/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/pass/workspace.h"

#include "engine/device/cuda/pass/segments.h"
#include "engine/device/cuda/runtime/memory.h"
#include "engine/device/cuda/runtime/wait.h"

/* In place of `memory`, once nothing reads it. */
static bool replace(struct device *device, size_t bytes, const char *what, void **memory,
                    struct error *err)
{
    if (!cuda_wait(device, device->stream, "the last pass", err))
        return false;
    cudaFree(*memory);
    device->workspace_moves++;
    return cuda_memory_create(device, bytes, what, memory, err);
}

static bool grow_slots(struct device *device, int count, size_t bytes, struct error *err)
{
    void *memory = device->slots;
    if (count <= device->slot_count && bytes <= device->slot_size)
        return true;
    count = count > device->slot_count ? count : device->slot_count;
    bytes = bytes > device->slot_size ? bytes : device->slot_size;
    device->slot_count = 0;
    device->slot_size = 0;
    bool ok = replace(device, (size_t)count * bytes, "activations of micro-batches", &memory, err);
    device->slots = memory;
    device->slot_count = ok ? count : 0;
    device->slot_size = ok ? bytes : 0;
    return ok;
}

bool cuda_workspace_grow(struct device *device, const struct plan_core *core, struct error *err)
{
    const size_t bytes = plan_core_bytes(core);
    if (bytes > device->workspace_size) {
        device->workspace_size = 0;
        if (!replace(device, bytes, "activations and scratch", &device->workspace, err))
            return false;
        device->workspace_size = bytes;
    }
    return grow_slots(device, core->request.slots, (core->kept_bytes + 255) / 256 * 256, err);
}

void cuda_workspace_bind(struct device *device, struct plan *plan, int slot)
{
    const bool moved = plan->core.workspace_moves != device->workspace_moves;
    if (plan->core.bound && !moved && plan->core.request.slots == 0 && !plan->core.micro)
        return;
    if (moved)
        cuda_segments_drop(plan);
    for (int i = 0; moved && i < plan->pass_count; i++)
        plan->passes[i].warm = false;
    plan_core_bind(&plan->core, device->workspace,
                   device->slots ? device->slots + (size_t)slot * device->slot_size : NULL);
    plan->core.bound = true;
    plan->core.workspace_moves = device->workspace_moves;
}
