/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/replica/update.h"

#include <string.h>

#include "engine/device/cuda/replica/arenas.h"
#include "engine/device/cuda/runtime/memory.h"
#include "engine/device/cuda/runtime/wait.h"

/* The step in device memory: copied when it differs from the one before, which is seldom where no
 * number depends on the step's. */
static bool send_step(struct device *device, struct cuda_replica *r,
                      const struct optimizer_step *step, struct error *err)
{
    struct optimizer_step *host = r->host_steps + r->slot;
    if (r->step_known && memcmp(host, step, sizeof *step) == 0)
        return true;
    r->slot = (r->slot + 1) % STEP_SLOTS;
    /* Around the ring: whoever still reads the oldest slot must be done. */
    if (r->slot == 0 && !cuda_wait(device, device->stream, "an update", err))
        return false;
    host = r->host_steps + r->slot;
    *host = *step;
    r->step_known = true;
    return cuda_check(cudaMemcpyAsync(r->steps + r->slot, host, sizeof *host,
                                      cudaMemcpyHostToDevice, device->stream),
                      "copying the learning rate", err);
}

static bool queue_squares(struct device *device, const struct cuda_replica *r, size_t begin,
                          size_t end, struct error *err)
{
    return cuda_check(kernel_gradient_squares(device->stream, end - begin, r->base.grads + begin,
                                              r->norm, &r->norm->squares),
                      "squares of the gradients", err);
}

bool cuda_gradient_squares(struct device *device, const struct replica *replica, size_t begin,
                           size_t end, double *sum, struct error *err)
{
    const struct cuda_replica *r = (const struct cuda_replica *)replica;
    return (queue_squares(device, r, begin, end, err) &&
            cuda_read(device, sum, &r->norm->squares, sizeof *sum, "squares of the gradients",
                      err)) ||
           error_prefix(err, "%s", device->name);
}

/* What the gradients are multiplied by, whose norm is given or that of the replica's own; the norm
 * goes to the host, which looks once the step is done. */
static bool queue_clip(struct device *device, const struct cuda_replica *r, bool given,
                       struct error *err)
{
    return (given || queue_squares(device, r, 0, r->base.count, err)) &&
           cuda_check(kernel_gradient_norm(device->stream, r->steps + r->slot, r->norm),
                      "norm of the gradients", err) &&
           cuda_check(cudaMemcpyAsync(r->host_norm, &r->norm->norm, sizeof *r->host_norm,
                                      cudaMemcpyDeviceToHost, device->stream),
                      "reading the norm of the gradients", err);
}

/* The part of the arenas from `begin` on. */
static struct update_arrays arrays_from(const struct cuda_replica *r, size_t begin, bool clips)
{
    const struct replica *replica = &r->base;
    struct update_arrays arrays = {
        .params = replica->params + begin,
        .grads = replica->grads + begin,
        .scale = clips ? &r->norm->scale : NULL,
        .spared = replica->spared,
        .first = begin,
        .copy = r->copies ? r->copies + begin : NULL,
    };
    for (int i = 0; i < replica->states && i < UPDATE_STATES; i++)
        arrays.state[i] = replica->state[i] + begin;
    return arrays;
}

static bool queue_average(struct device *device, const struct cuda_replica *r, size_t begin,
                          size_t end, const struct optimizer_step *step, struct error *err)
{
    return cuda_check(kernel_average(device->stream, end - begin,
                                     r->base.state[step->average] + begin, r->base.params + begin,
                                     r->steps + r->slot),
                      "average of the parameters", err);
}

bool cuda_update(struct device *device, struct replica *replica, size_t begin, size_t end,
                 const struct optimizer_step *step, struct error *err)
{
    struct cuda_replica *r = (struct cuda_replica *)replica;
    if (begin > end || end > replica->count || begin % 4 != 0 || end % 4 != 0)
        return error_set(err, ERROR_FAILED,
                         "%s: update of numbers %zu to %zu of %zu (in groups of four)",
                         device->name, begin, end, replica->count);
    if (begin == end)
        return true;
    const struct update_arrays arrays = arrays_from(r, begin, step->clip > 0);
    return (send_step(device, r, step, err) &&
            (!(step->clip > 0) || queue_clip(device, r, step->norm != 0, err)) &&
            cuda_check(
                kernel_update(device->stream, step->rule, end - begin, &arrays, r->steps + r->slot),
                "update", err) &&
            (!(step->take > 0) || queue_average(device, r, begin, end, step, err)) &&
            /* Else a profile would find the update's time in the next pass. */
            (!device->profiles || cuda_wait(device, device->stream, "an update", err))) ||
           error_prefix(err, "%s", device->name);
}

bool cuda_swap(struct device *device, struct replica *replica, int state, struct error *err)
{
    return (cuda_check(
                kernel_swap(device->stream, replica->count, replica->params, replica->state[state]),
                "swapping parameters", err) &&
            cuda_replica_copy_params(replica, 0, replica->count, device->stream, err)) ||
           error_prefix(err, "%s", device->name);
}
