/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/replica/sgd.h"

#include <string.h>

#include "engine/device/cuda/replica/arenas.h"
#include "engine/device/cuda/runtime/wait.h"

/* The settings in device memory: copied when they change, which is seldom. */
static bool send_rates(struct device *device, struct cuda_replica *r,
                       const struct optimizer_step *step, struct error *err)
{
    if (r->step_known && memcmp(&r->step, step, sizeof *step) == 0)
        return true;
    r->slot = (r->slot + 1) % RATES_SLOTS;
    /* Around the ring: whoever still reads the oldest slot must be done. */
    if (r->slot == 0 && !cuda_wait(device, device->stream, "an update", err))
        return false;
    float *host = r->host_rates + (size_t)r->slot * RATES;
    host[0] = step->lr;
    host[1] = step->momentum;
    host[2] = step->weight_decay;
    host[3] = 0;
    if (!cuda_check(cudaMemcpyAsync(r->rates + (size_t)r->slot * RATES, host, RATES * sizeof *host,
                                    cudaMemcpyHostToDevice, device->stream),
                    "copying the learning rate", err))
        return false;
    r->step = *step;
    r->step_known = true;
    return true;
}

bool cuda_sgd(struct device *device, struct replica *replica, size_t begin, size_t end,
              const struct optimizer_step *step, struct error *err)
{
    struct cuda_replica *r = (struct cuda_replica *)replica;
    if (begin > end || end > replica->count || begin % 4 != 0 || end % 4 != 0)
        return error_set(err, ERROR_FAILED,
                         "%s: update of numbers %zu to %zu of %zu (in groups of four)",
                         device->name, begin, end, replica->count);
    if (begin == end)
        return true;
    return (send_rates(device, r, step, err) &&
            cuda_check(kernel_sgd(device->stream, end - begin, replica->params + begin,
                                  replica->grads + begin, replica->state[0] + begin,
                                  r->copies ? r->copies + begin : NULL,
                                  r->rates + (size_t)r->slot * RATES, step->momentum != 0),
                       "update", err) &&
            /* Else a profile would find the update's time in the next pass. */
            (!device->profiles || cuda_wait(device, device->stream, "an update", err))) ||
           error_prefix(err, "%s", device->name);
}
