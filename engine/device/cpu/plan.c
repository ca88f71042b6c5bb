/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/plan.h"

#include <string.h>

#include "engine/device/cpu/plan_build.h"

static size_t plan_bytes(const struct plan *plan)
{
    return plan->input_bytes + plan->scratch_bytes + plan->planned_bytes;
}

/* Plans run one at a time, so they share one workspace, as large as the largest needs. */
static bool grow_workspace(struct device *device, size_t bytes, struct error *err)
{
    if (bytes <= device->workspace.size)
        return true;
    mapping_free(&device->workspace);
    device->workspace_moves++;
    return mapping_create(&device->workspace, bytes, "activations and scratch", err);
}

bool cpu_plan_create(struct device *device, struct replica *replica,
                     const struct plan_request *request, struct plan **out, struct error *err)
{
    struct plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return error_memory(err, "a plan");
    plan->device = device;
    plan->replica = (struct cpu_replica *)replica;
    plan->request = *request;
    if (!plan_build(plan, err) || !grow_workspace(device, plan_bytes(plan), err)) {
        cpu_plan_destroy(device, plan);
        return error_prefix(err, "%s", device->name);
    }
    *out = plan;
    return true;
}

void cpu_plan_destroy(struct device *device, struct plan *plan)
{
    (void)device;
    if (!plan)
        return;
    for (int i = 0; i < plan->owned_count; i++) {
        if (plan->owned[i].release)
            plan->owned[i].release(plan->owned[i].object);
        free(plan->owned[i].object);
    }
    for (int i = 0; i < plan->binding_count; i++)
        dnnl_memory_destroy(plan->bindings[i].memory);
    free(plan->owned);
    free(plan->bindings);
    free(plan->steps);
    pool_free(&plan->pool);
    free(plan);
}

void cpu_plan_memory(const struct plan *plan, struct plan_memory *out)
{
    *out = (struct plan_memory){.activations = plan->planned_bytes,
                                .scratch = plan->scratch_bytes,
                                .input = plan->input_bytes};
}

/* Give every buffer its address in the workspace, which has moved since the last run. */
static bool bind_memory(struct device *device, struct plan *plan, struct error *err)
{
    char *input = device->workspace.data;
    char *scratch = input + plan->input_bytes, *planned = scratch + plan->scratch_bytes;
    for (int i = 0; i < plan->pool.count; i++) {
        struct buffer *buffer = plan->pool.list[i];
        if (buffer->region != BUFFER_FIXED)
            buffer->data = buffer->offset + (buffer->region == BUFFER_INPUT     ? input
                                             : buffer->region == BUFFER_SCRATCH ? scratch
                                                                                : planned);
    }
    for (int i = 0; i < plan->binding_count; i++)
        if (!dnnl_check(dnnl_memory_set_data_handle(plan->bindings[i].memory,
                                                    plan->bindings[i].buffer->data),
                        "memory object", err))
            return false;
    plan->bound = true;
    plan->workspace_moves = device->workspace_moves;
    return true;
}

static const char *step_name(const struct plan *plan, const struct step *step)
{
    if (!step->node || step->node->op == NET_NONE)
        return "";
    return plan->replica->base.net->ops[step->node->op].name;
}

static bool run_steps(struct device *device, struct plan *plan, struct error *err)
{
    for (int i = 0; i < plan->step_count; i++) {
        const struct step *step = &plan->steps[i];
        if (step->run(plan, step->layer, err))
            continue;
        const char *kind = step->node ? net_kind_name(step->node->kind) : "batch";
        const char *name = step_name(plan, step);
        return error_prefix(err, "%s: %s%s%s", device->name, kind, *name ? " " : "", name);
    }
    return true;
}

bool cpu_plan_run(struct device *device, struct plan *plan, const struct batch *batch,
                  struct batch_result *result, struct error *err)
{
    if (batch->rows != plan->request.rows)
        return error_set(err, ERROR_FAILED, "%s: %d rows given to a plan for %d", device->name,
                         batch->rows, plan->request.rows);
    if (device->workspace.size < plan_bytes(plan))
        return error_set(err, ERROR_FAILED, "%s: no memory for the plan", device->name);
    if ((!plan->bound || plan->workspace_moves != device->workspace_moves) &&
        !bind_memory(device, plan, err))
        return error_prefix(err, "%s", device->name);
    plan->batch = batch;
    plan->result = (struct batch_result){0};
    if (plan->request.mode == PLAN_TRAIN && plan->request.rows == 0)
        memset(plan->replica->base.grads, 0, plan->replica->base.count * sizeof(float));
    bool ok = run_steps(device, plan, err) &&
              (dnnl_check(dnnl_stream_wait(device->stream), "stream", err) ||
               error_prefix(err, "%s", device->name));
    plan->batch = NULL;
    *result = plan->result;
    return ok;
}

bool cpu_plan_logits(struct device *device, struct plan *plan, float *logits, struct error *err)
{
    const size_t classes = (size_t)plan->replica->base.net->classes;
    if (plan->request.rows > 0 && !plan->bound)
        return error_set(err, ERROR_FAILED, "%s: logits asked for before a pass", device->name);
    for (int n = 0; n < plan->request.rows; n++)
        memcpy(logits + (size_t)n * classes,
               (const float *)plan->logits->data + (size_t)n * plan->logits_row,
               classes * sizeof *logits);
    return true;
}
