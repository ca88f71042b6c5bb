/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/pass/queue.h"

#include "engine/device/cuda/pass/plan.h"
#include "engine/device/cuda/replica/arenas.h"
#include "engine/device/cuda/runtime/wait.h"

/*
 * Passes that are queued ahead. Each has a slot, which stands for its events here and its part of
 * the pinned memory in block.c, from when it is queued until it is taken. The events' times are the
 * device's own: the host may look much later.
 */

bool cuda_queue_open(struct device *device, struct error *err)
{
    double *squares;
    if (!cuda_check(
            cudaMallocHost((void **)&squares, PASSES_QUEUED * PASS_SQUARE_SUMS * sizeof *squares),
            "pinned memory", err))
        return false;
    for (int i = 0; i < PASSES_QUEUED; i++)
        device->passes[i].squares = squares + (size_t)i * PASS_SQUARE_SUMS;
    for (int i = 0; i < PASSES_QUEUED; i++)
        for (int moment = 0; moment < PASS_MOMENTS; moment++)
            if (!cuda_check(
                    cudaEventCreateWithFlags(&device->passes[i].at[moment], cudaEventDefault),
                    "event", err))
                return false;
    return true;
}

void cuda_queue_close(struct device *device)
{
    for (int i = 0; i < PASSES_QUEUED; i++)
        for (int moment = 0; moment < PASS_MOMENTS; moment++)
            if (device->passes[i].at[moment])
                cudaEventDestroy(device->passes[i].at[moment]);
    if (device->passes[0].squares)
        cudaFreeHost(device->passes[0].squares);
}

static bool mark(struct device *device, struct queued_pass *pass, enum pass_moment moment,
                 struct error *err)
{
    if (!cuda_check(cudaEventRecord(pass->at[moment], device->stream), "event", err))
        return error_prefix(err, "%s", device->name);
    pass->marked[moment] = true;
    return true;
}

bool cuda_queue_begin(struct device *device, struct plan *plan, int *slot, struct error *err)
{
    if (device->queued - device->taken >= PASSES_QUEUED)
        return error_set(err, ERROR_FAILED, "%s: %d passes are queued already", device->name,
                         PASSES_QUEUED);
    *slot = (int)(device->queued % PASSES_QUEUED);
    struct queued_pass *pass = &device->passes[*slot];
    pass->plan = plan;
    pass->square_count = 0;
    for (int moment = 0; moment < PASS_MOMENTS; moment++)
        pass->marked[moment] = false;
    if (!mark(device, pass, PASS_BEGUN, err))
        return false;
    device->queued++;
    return true;
}

void cuda_queue_undo(struct device *device)
{
    device->queued--;
}

bool cuda_plan_squares(struct device *device, const struct replica *replica,
                       enum pass_squares which, size_t begin, size_t end, struct error *err)
{
    const struct cuda_replica *r = (const struct cuda_replica *)replica;
    struct queued_pass *pass =
        &device->passes[(device->queued + PASSES_QUEUED - 1) % PASSES_QUEUED];
    if (device->queued == device->taken)
        return error_set(err, ERROR_FAILED, "%s: no pass is queued", device->name);
    if (pass->square_count == PASS_SQUARE_SUMS)
        return error_set(err, ERROR_FAILED, "%s: more than %d sums of squares in a pass",
                         device->name, PASS_SQUARE_SUMS);
    pass->square_kinds[pass->square_count] = which;
    return cuda_check(kernel_gradient_squares(device->stream, end - begin, r->base.grads + begin,
                                              r->norm, pass->squares + pass->square_count++),
                      "squares of the gradients", err) ||
           error_prefix(err, "%s", device->name);
}

bool cuda_plan_mark(struct device *device, enum pass_moment moment, struct error *err)
{
    if (device->queued == device->taken)
        return error_set(err, ERROR_FAILED, "%s: no pass is queued", device->name);
    return mark(device, &device->passes[(device->queued - 1) % PASSES_QUEUED], moment, err);
}

/* The newest moment marked, and the seconds to each marked one from the one before. */
static bool read_times(const struct queued_pass *pass, double *seconds, struct error *err)
{
    int before = PASS_BEGUN;
    for (int moment = PASS_DONE; moment < PASS_MOMENTS; moment++) {
        float milliseconds = 0;
        if (!pass->marked[moment])
            continue;
        if (!cuda_check(cudaEventElapsedTime(&milliseconds, pass->at[before], pass->at[moment]),
                        "time of a pass", err))
            return false;
        seconds[moment] = (double)milliseconds / 1e3;
        before = moment;
    }
    return true;
}

bool cuda_plan_take(struct device *device, struct pass_outcome *out, struct error *err)
{
    *out = (struct pass_outcome){.seconds = {0}};
    if (device->queued == device->taken)
        return error_set(err, ERROR_FAILED, "%s: no pass is queued", device->name);
    const int slot = (int)(device->taken % PASSES_QUEUED);
    const struct queued_pass *pass = &device->passes[slot];
    int last = PASS_MOMENTS - 1;
    while (!pass->marked[last])
        last--;
    /* Whose wait failed is named there; with NCCL it may be another device's fault. */
    if (!cuda_wait_event(device, pass->at[last], "a pass", err))
        return false;
    if (!read_times(pass, out->seconds, err) ||
        (pass->plan->times.on &&
         !step_times_take(&pass->plan->times, 0, pass->plan->times.count, err)))
        return error_prefix(err, "%s", device->name);
    for (int i = 0; i < pass->square_count; i++)
        out->squares[pass->square_kinds[i]] += pass->squares[i];
    if (pass->plan->core.logits_rows > 0)
        out->result = pass_take(&pass->plan->pass, slot);
    device->taken++;
    cuda_wait_is_over(device);
    return true;
}
