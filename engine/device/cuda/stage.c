/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/stage.h"

#include "engine/device/cuda/pass/plan.h"
#include "engine/device/cuda/pass/segments.h"
#include "engine/device/cuda/pass/workspace.h"
#include "engine/device/cuda/runtime/memory.h"
#include "engine/device/cuda/runtime/wait.h"

/*
 * A stage's passes are waited for one by one: what a neighbour reads or writes is then at rest, and
 * neither GPU waits for the other.
 */

/* The gradients of a micro-batch, to those of its mini-batch before it. */
static bool add_gradients(struct device *device, const struct cuda_replica *r, bool first,
                          struct error *err)
{
    const size_t count = r->base.count;
    return first ? cuda_check(cudaMemcpyAsync(r->base.grads, r->parts, count * sizeof *r->parts,
                                              cudaMemcpyDeviceToDevice, device->stream),
                              "copying gradients", err)
                 : cuda_check(kernel_add(device->stream, CUDA_F32, count, r->base.grads, r->parts,
                                         false, r->base.grads),
                              "adding gradients", err);
}

static bool finish(struct device *device, struct plan *plan, int begin, int end, struct error *err)
{
    return cuda_wait(device, device->stream, "a pass", err) &&
           (!plan->times.on || step_times_take(&plan->times, begin, end, err) ||
            error_prefix(err, "%s", device->name));
}

static bool check_request(const struct device *device, const struct plan *plan,
                          const struct batch *batch, const struct micro_batch *micro,
                          struct error *err)
{
    const struct plan_request *request = &plan->core.request;
    if (batch->rows != request->rows ||
        (request->mode == PLAN_TRAIN && (micro->slot < 0 || micro->slot >= request->slots)))
        return error_set(err, ERROR_FAILED,
                         "%s: %d rows in slot %d given to a plan for %d rows and %d slots",
                         device->name, batch->rows, micro->slot, request->rows, request->slots);
    if (device->queued != device->taken)
        return error_set(err, ERROR_FAILED, "%s: passes that are queued come first", device->name);
    return (device->workspace_size >= plan_core_bytes(&plan->core) &&
            device->slot_count >= request->slots && device->slot_size >= plan->core.kept_bytes) ||
           error_set(err, ERROR_FAILED, "%s: no memory for the plan", device->name);
}

/* One direction, or an evaluation. */
static bool queue(struct device *device, struct plan *plan, const struct batch *batch, int slot,
                  bool backward, struct error *err)
{
    struct segments *pass = &plan->passes[2 * slot + backward];
    const bool fetches = plan->replica->graph.ends && !backward;
    cuda_workspace_bind(device, plan, slot);
    if (!pass_check(plan, batch, err) || !pass_send(plan, 0, batch, err))
        return error_prefix(err, "%s", device->name);
    if (!cuda_segments_run(plan, pass, err))
        return false;
    return ((!fetches || pass_fetch(plan, 0, err)) &&
            (!backward || add_gradients(device, plan->replica, plan->core.micro->first, err))) ||
           error_prefix(err, "%s", device->name);
}

static bool run(struct device *device, struct plan *plan, const struct batch *batch,
                const struct micro_batch *micro, bool backward, struct error *err)
{
    const struct plan_core *core = &plan->core;
    const bool trains = core->request.mode == PLAN_TRAIN;
    if (!check_request(device, plan, batch, micro, err))
        return false;
    plan->core.batch = batch;
    plan->core.micro = micro;
    plan->times.on = plan->times.list && !batch->unprofiled;
    bool ok = queue(device, plan, batch, trains ? micro->slot : 0, backward, err) &&
              finish(device, plan, backward ? core->forward_steps : 0,
                     backward || !trains ? core->step_count : core->forward_steps, err);
    plan->core.batch = NULL;
    plan->core.micro = NULL;
    return ok;
}

bool cuda_plan_forward(struct device *device, struct plan *plan, const struct batch *batch,
                       const struct micro_batch *micro, struct batch_result *result,
                       struct error *err)
{
    *result = (struct batch_result){0};
    if (!run(device, plan, batch, micro, false, err))
        return false;
    if (plan->replica->graph.ends)
        *result = pass_take(&plan->pass, 0);
    return true;
}

bool cuda_plan_backward(struct device *device, struct plan *plan, const struct batch *batch,
                        const struct micro_batch *micro, struct error *err)
{
    return run(device, plan, batch, micro, true, err);
}

size_t cuda_stage_row(const struct replica *replica, bool output)
{
    const struct cuda_replica *r = (const struct cuda_replica *)replica;
    const struct graph *g = &r->graph;
    if (output ? g->ends : g->begins)
        return 0;
    return graph_end_row(g, output ? &g->exit : &g->entry) * cuda_type_size(r->storage);
}

bool cuda_stage_memory(struct device *device, size_t bytes, void **out, struct error *err)
{
    void *memory = NULL;
    device->shared = true;
    if (bytes > device->ends_size) {
        cudaFree(device->ends);
        device->ends = NULL;
        device->ends_size = 0;
        if (!cuda_memory_create(device, bytes, "what stages hand over", &memory, err))
            return error_prefix(err, "%s", device->name);
        device->ends = memory;
        device->ends_size = bytes;
    }
    *out = device->ends;
    return true;
}
