/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/layers/sgd.h"

#include "engine/device/cpu/core/device.h"

/* Bound by memory: one pass over what the update needs, in parallel where that pays. */
#define PARALLEL_FROM 65536

static void update_plain(float *w, const float *g, size_t count, const struct optimizer_step *step)
{
    const float lr = step->lr, decay = step->weight_decay;
#pragma omp parallel for simd schedule(static) if (count >= PARALLEL_FROM)
    for (size_t i = 0; i < count; i++)
        w[i] -= lr * (g[i] + decay * w[i]);
}

static void update_momentum(float *w, const float *g, float *v, size_t count,
                            const struct optimizer_step *step)
{
    const float lr = step->lr, decay = step->weight_decay, momentum = step->momentum;
#pragma omp parallel for simd schedule(static) if (count >= PARALLEL_FROM)
    for (size_t i = 0; i < count; i++) {
        v[i] = momentum * v[i] + (g[i] + decay * w[i]);
        w[i] -= lr * v[i];
    }
}

bool cpu_sgd(struct device *device, struct replica *replica, size_t begin, size_t end,
             const struct optimizer_step *step, struct error *err)
{
    if (begin > end || end > replica->count)
        return error_set(err, ERROR_FAILED, "%s: update of numbers %zu to %zu of %zu", device->name,
                         begin, end, replica->count);
    if (step->momentum == 0)
        update_plain(replica->params + begin, replica->grads + begin, end - begin, step);
    else
        update_momentum(replica->params + begin, replica->grads + begin, replica->state[0] + begin,
                        end - begin, step);
    return true;
}
