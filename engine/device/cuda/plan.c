/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/plan.h"

#include <stdlib.h>
#include <string.h>

#include "engine/device/cuda/layers/input.h"
#include "engine/device/cuda/layers/kinds.h"
#include "engine/device/cuda/layers/loss.h"
#include "engine/device/cuda/layers/operands.h"
#include "engine/device/cuda/pass/plan.h"
#include "engine/device/cuda/pass/queue.h"
#include "engine/device/cuda/pass/rows.h"
#include "engine/device/cuda/pass/segments.h"
#include "engine/device/cuda/pass/workspace.h"
#include "engine/device/cuda/runtime/memory.h"
#include "engine/device/cuda/runtime/turn.h"
#include "engine/device/cuda/runtime/wait.h"

static const struct layer_kind *layer_of(enum net_kind kind)
{
#define LAYER(kind, word) [kind] = &cuda_layer_##word,
    static const struct layer_kind *const layers[] = {NET_OPERATIONS(LAYER)
                                                          NET_SLICE_OPERATIONS(LAYER)};
    return layers[kind];
}

static bool run_addition(struct plan *plan, void *layer, struct error *err)
{
    const struct addition *add = layer;
    return cuda_kernel(kernel_add(plan->device->stream, plan->device->storage, add->count,
                                  add->left->data, add->right->data, false, add->sum->data),
                       err);
}

static bool copy(struct plan *plan, void *to, const void *from, size_t bytes, struct error *err)
{
    return from ? cuda_copy(plan->device, to, from, bytes, err)
                : cuda_check(cudaMemsetAsync(to, 0, bytes, plan->device->stream),
                             "clearing a gradient", err);
}

static bool build(struct plan *plan, struct error *err)
{
    const struct graph *graph = &plan->replica->graph;
    const struct build_backend backend = {.number_size = cuda_type_size(plan->device->storage),
                                          .method = "own kernel",
                                          .layer_of = layer_of,
                                          .begin = pass_make,
                                          .input = cuda_build_input,
                                          .loss = cuda_build_loss,
                                          .run_addition = run_addition,
                                          .copy = copy,
                                          .copies_ends = true};
    plan->sums = calloc((size_t)graph->value_count, sizeof *plan->sums);
    if (!plan->sums)
        return error_memory(err, "a plan");
    return plan_core_build(&plan->core, plan, plan->device, graph, &backend, err) &&
           cuda_segments_make(plan, err) && step_times_make(plan, err) &&
           cuda_workspace_grow(plan->device, &plan->core, err);
}

bool cuda_plan_create(struct device *device, struct replica *replica,
                      const struct plan_request *request, struct plan **out, struct error *err)
{
    struct plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return error_memory(err, "a plan");
    plan->device = device;
    plan->replica = (struct cuda_replica *)replica;
    plan->core.request = *request;
    plan->captures = true;
    bool ok = cuda_turn_take(device, err) && build(plan, err);
    cuda_turn_give(device);
    if (!ok) {
        cuda_plan_destroy(device, plan);
        return error_prefix(err, "%s", device->name);
    }
    *out = plan;
    return true;
}

void cuda_plan_destroy(struct device *device, struct plan *plan)
{
    if (!plan)
        return;
    const bool at_rest = cuda_comes_to_rest(device);
    cuda_segments_free(plan, at_rest);
    pass_free(&plan->pass, at_rest);
    step_times_free(&plan->times);
    plan_core_free(&plan->core);
    free(plan->sums);
    free(plan);
}

void cuda_plan_memory(const struct plan *plan, struct plan_memory *out)
{
    plan_core_memory(&plan->core, out);
}

struct plan_time *cuda_plan_profile(struct plan *plan, int *count)
{
    *count = plan->times.count;
    return plan->times.list;
}

const char *cuda_plan_note(const struct plan *plan)
{
    return plan->note;
}

static bool clear_gradients(struct plan *plan, struct error *err)
{
    const struct replica *replica = &plan->replica->base;
    return cuda_check(
        cudaMemsetAsync(replica->grads, 0, replica->count * sizeof(float), plan->device->stream),
        "clearing gradients", err);
}

static bool queue_pass(struct device *device, struct plan *plan, int slot,
                       const struct batch *batch, struct error *err)
{
    const bool empty = plan->core.request.rows == 0;
    if (!(pass_check(plan, batch, err) && pass_send(plan, slot, batch, err) &&
          (!(empty && plan->core.request.mode == PLAN_TRAIN) || clear_gradients(plan, err))))
        return error_prefix(err, "%s", device->name);
    if (!cuda_segments_run(plan, plan->passes, err))
        return false;
    return ((plan->core.logits_rows == 0 || pass_fetch(plan, slot, err)) &&
            cuda_plan_mark(device, PASS_DONE, err) && rows_stage_ahead(device, batch, err)) ||
           error_prefix(err, "%s", device->name);
}

bool cuda_plan_queue(struct device *device, struct plan *plan, const struct batch *batch,
                     struct error *err)
{
    const int global = batch->global ? batch->global->rows : 0;
    int slot;
    if (batch->rows != plan->core.request.rows || global != plan->core.request.global_rows)
        return error_set(err, ERROR_FAILED, "%s: %d rows given to a plan for %d%s", device->name,
                         batch->rows, plan->core.request.rows,
                         global != plan->core.request.global_rows ? ", of other global batches"
                                                                  : "");
    if (device->workspace_size < plan_core_bytes(&plan->core))
        return error_set(err, ERROR_FAILED, "%s: no memory for the plan", device->name);
    cuda_workspace_bind(device, plan, 0);
    if (!cuda_queue_begin(device, plan, &slot, err))
        return false;
    plan->core.batch = batch;
    plan->times.on = plan->times.list && !batch->unprofiled;
    bool ok = queue_pass(device, plan, slot, batch, err);
    plan->core.batch = NULL;
    if (!ok)
        cuda_queue_undo(device);
    return ok;
}

bool cuda_plan_run(struct device *device, struct plan *plan, const struct batch *batch,
                   struct batch_result *result, struct error *err)
{
    struct pass_outcome outcome = {.seconds = {0}};
    if (device->queued != device->taken)
        return error_set(err, ERROR_FAILED, "%s: passes that are queued come first", device->name);
    bool ok = cuda_plan_queue(device, plan, batch, err) && cuda_plan_take(device, &outcome, err);
    *result = outcome.result;
    return ok;
}

bool cuda_plan_logits(struct device *device, struct plan *plan, float *logits, struct error *err)
{
    const size_t classes = (size_t)plan->replica->base.net->classes;
    const size_t rows = (size_t)plan->core.logits_rows, row = plan->core.logits_row;
    if (rows == 0)
        return true;
    if (!plan->core.bound)
        return error_set(err, ERROR_FAILED, "%s: logits asked for before a pass", device->name);
    float *all = malloc(rows * row * sizeof *all);
    if (!all)
        return error_memory(err, "logits");
    bool ok =
        cuda_read(device, all, plan->core.logits->data, rows * row * sizeof *all, "logits", err) ||
        error_prefix(err, "%s", device->name);
    for (size_t n = 0; ok && n < rows; n++)
        memcpy(logits + n * classes, all + n * row, classes * sizeof *logits);
    free(all);
    return ok;
}
