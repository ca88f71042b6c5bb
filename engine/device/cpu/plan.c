/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/plan.h"

#include <stdlib.h>
#include <string.h>

#include "engine/device/cpu/conv/fusion.h"
#include "engine/device/cpu/core/kinds.h"
#include "engine/device/cpu/core/number.h"
#include "engine/device/cpu/core/plan.h"
#include "engine/device/cpu/lanes/build.h"
#include "engine/device/cpu/layers/elementwise.h"
#include "engine/device/cpu/layers/input.h"
#include "engine/device/cpu/layers/loss.h"

static bool run_addition(struct plan *plan, void *layer, struct error *err)
{
    const struct addition *add = layer;
    (void)err;
    elementwise_add(add->left->data, add->right->data, false, add->sum->data, add->count,
                    plan->bf16);
    return true;
}

static bool copy(struct plan *plan, void *to, const void *from, size_t bytes, struct error *err)
{
    (void)plan;
    (void)err;
    if (from)
        memcpy(to, from, bytes);
    else
        memset(to, 0, bytes);
    return true;
}

static bool build(struct plan *plan, const struct graph *graph, struct error *err)
{
    const struct build_backend backend = {.number_size = number_size(plan->bf16),
                                          .layer_of = cpu_layer_of,
                                          .input = build_input,
                                          .loss = build_loss,
                                          .run_addition = run_addition,
                                          .copy = copy};
    return plan_core_build(&plan->core, plan, plan->device, graph,
                           plan->replica->lanes ? &lanes_build_backend : &backend, err);
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

/* A slot for each micro-batch in flight, each as large as the largest plan needs. */
static bool grow_slots(struct device *device, int count, size_t bytes, struct error *err)
{
    if (count > device->slot_count) {
        struct mapping *grown = realloc(device->slots, (size_t)count * sizeof *grown);
        if (!grown)
            return error_memory(err, "a stage's slots");
        device->slots = grown;
        while (device->slot_count < count)
            device->slots[device->slot_count++] = (struct mapping){0};
    }
    for (int i = 0; i < count; i++) {
        if (bytes <= device->slots[i].size)
            continue;
        mapping_free(&device->slots[i]);
        if (!mapping_create(&device->slots[i], bytes, "activations of micro-batches", err))
            return false;
    }
    return true;
}

bool cpu_plan_create(struct device *device, struct replica *replica,
                     const struct plan_request *request, struct plan **out, struct error *err)
{
    struct cpu_replica *r = (struct cpu_replica *)replica;
    const struct graph *graph = request->mode == PLAN_EVAL ? &r->folded : &r->graph;
    struct plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return error_memory(err, "a plan");
    plan->device = device;
    plan->replica = r;
    plan->bf16 = r->bf16;
    plan->core.request = *request;
    plan->fusions = calloc((size_t)graph->value_count, sizeof *plan->fusions);
    if ((!plan->fusions && !error_memory(err, "a plan")) || !build(plan, graph, err) ||
        !grow_workspace(device, plan_core_bytes(&plan->core), err) ||
        !grow_slots(device, request->slots, plan->core.kept_bytes, err)) {
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
    for (int i = 0; i < plan->binding_count; i++)
        dnnl_memory_destroy(plan->bindings[i].memory);
    plan_core_free(&plan->core);
    free(plan->bindings);
    free(plan->fusions);
    free(plan);
}

void cpu_plan_memory(const struct plan *plan, struct plan_memory *out)
{
    plan_core_memory(&plan->core, out);
}

struct plan_time *cpu_plan_profile(struct plan *plan, int *count)
{
    *count = plan->core.step_count;
    return plan->core.times;
}

static bool bind_memory(struct device *device, struct plan *plan, void *slot, struct error *err)
{
    plan_core_bind(&plan->core, device->workspace.data, slot);
    for (int i = 0; i < plan->binding_count; i++)
        if (!dnnl_check(dnnl_memory_set_data_handle(plan->bindings[i].memory,
                                                    plan->bindings[i].buffer->data),
                        "memory object", err))
            return false;
    plan->core.bound = true;
    plan->core.workspace_moves = device->workspace_moves;
    return true;
}

static bool run_steps(struct device *device, struct plan *plan, const struct batch *batch,
                      int begin, int end, struct error *err)
{
    plan->core.batch = batch;
    bool ok =
        plan_core_run(&plan->core, plan, plan->replica->base.net, device->name, begin, end, err) &&
        (dnnl_check(dnnl_stream_wait(device->stream), "stream", err) ||
         error_prefix(err, "%s", device->name));
    plan->core.batch = NULL;
    return ok;
}

/* All steps, and, in training, each bucket as soon as its gradients are final. */
static bool run_buckets(struct device *device, struct plan *plan, const struct batch *batch,
                        struct error *err)
{
    const struct gradient_buckets *buckets = &plan->core.request.buckets;
    const struct cpu_replica *r = plan->replica;
    int begin = 0;
    for (int i = 0; i < buckets->count; i++) {
        const int last =
            plan_core_gradient_step(&plan->core, r->base.net, &r->places, buckets->ends[i]);
        const int end = last + 1 > begin ? last + 1 : begin;
        if (!run_steps(device, plan, batch, begin, end, err) ||
            !buckets->ready(buckets->context, i, err))
            return false;
        begin = end;
    }
    return run_steps(device, plan, batch, begin, plan->core.step_count, err);
}

bool cpu_plan_run(struct device *device, struct plan *plan, const struct batch *batch,
                  struct batch_result *result, struct error *err)
{
    const int global = batch->global ? batch->global->rows : 0;
    if (batch->rows != plan->core.request.rows || global != plan->core.request.global_rows)
        return error_set(err, ERROR_FAILED, "%s: %d rows given to a plan for %d%s", device->name,
                         batch->rows, plan->core.request.rows,
                         global != plan->core.request.global_rows ? ", of other global batches"
                                                                  : "");
    if (device->workspace.size < plan_core_bytes(&plan->core))
        return error_set(err, ERROR_FAILED, "%s: no memory for the plan", device->name);
    if ((!plan->core.bound || plan->core.workspace_moves != device->workspace_moves) &&
        !bind_memory(device, plan, NULL, err))
        return error_prefix(err, "%s", device->name);
    plan->core.result = (struct batch_result){0};
    if (plan->core.request.mode == PLAN_TRAIN && plan->core.request.rows == 0)
        memset(plan->replica->base.grads, 0, plan->replica->base.count * sizeof(float));
    bool ok = run_buckets(device, plan, batch, err);
    *result = plan->core.result;
    return ok;
}

/* What a stage works with lies elsewhere for each micro-batch. */
static bool run_micro(struct device *device, struct plan *plan, const struct batch *batch,
                      const struct micro_batch *micro, int begin, int end, struct error *err)
{
    const bool trains = plan->core.request.mode == PLAN_TRAIN;
    if (batch->rows != plan->core.request.rows ||
        (trains && (micro->slot < 0 || micro->slot >= plan->core.request.slots)))
        return error_set(err, ERROR_FAILED,
                         "%s: %d rows in slot %d given to a plan for %d rows and %d slots",
                         device->name, batch->rows, micro->slot, plan->core.request.rows,
                         plan->core.request.slots);
    plan->core.micro = micro;
    plan->core.adds = !micro->first;
    bool ok = bind_memory(device, plan, trains ? device->slots[micro->slot].data : NULL, err)
                  ? run_steps(device, plan, batch, begin, end, err)
                  : error_prefix(err, "%s", device->name);
    plan->core.micro = NULL;
    return ok;
}

bool cpu_plan_forward(struct device *device, struct plan *plan, const struct batch *batch,
                      const struct micro_batch *micro, struct batch_result *result,
                      struct error *err)
{
    const bool trains = plan->core.request.mode == PLAN_TRAIN;
    plan->core.result = (struct batch_result){0};
    bool ok = run_micro(device, plan, batch, micro, 0,
                        trains ? plan->core.forward_steps : plan->core.step_count, err);
    *result = plan->core.result;
    return ok;
}

bool cpu_plan_backward(struct device *device, struct plan *plan, const struct batch *batch,
                       const struct micro_batch *micro, struct error *err)
{
    return run_micro(device, plan, batch, micro, plan->core.forward_steps,
                     plan->core.backward_steps, err);
}

/* The last backward pass has bound the plan. */
bool cpu_plan_finish(struct device *device, struct plan *plan, int rows, bool first, bool *any,
                     struct error *err)
{
    *any = plan->core.backward_steps < plan->core.step_count;
    plan->core.deferred_rows = rows;
    plan->core.adds = !first;
    return run_steps(device, plan, NULL, plan->core.backward_steps, plan->core.step_count, err);
}

size_t cpu_stage_row(const struct replica *replica, bool output)
{
    const struct cpu_replica *r = (const struct cpu_replica *)replica;
    const struct graph *g = &r->graph;
    if (output ? g->ends : g->begins)
        return 0;
    return graph_end_row(g, output ? &g->exit : &g->entry) * number_size(r->bf16);
}

bool cpu_plan_logits(struct device *device, struct plan *plan, float *logits, struct error *err)
{
    const size_t classes = (size_t)plan->replica->base.net->classes;
    if (plan->core.logits_rows > 0 &&
        (!plan->core.bound || plan->core.workspace_moves != device->workspace_moves))
        return error_set(err, ERROR_FAILED, "%s: logits asked for before a pass", device->name);
    for (size_t n = 0; n < (size_t)plan->core.logits_rows; n++)
        for (size_t k = 0; k < classes; k++)
            logits[n * classes + k] =
                number_get(plan->core.logits->data, n * plan->core.logits_row + k, plan->bf16);
    return true;
}
