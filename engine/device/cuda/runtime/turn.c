/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/runtime/turn.h"

#include <pthread.h>

#include "base/clock.h"
#include "engine/device/cuda/runtime/wait.h"

/* A lock per GPU, for all devices that are opened on it: of the process, like the GPU's context. */
static pthread_mutex_t turns[SPEC_MAX_DEVICES] = {
    [0 ... SPEC_MAX_DEVICES - 1] = PTHREAD_MUTEX_INITIALIZER,
};

static pthread_mutex_t *turn_of(const struct device *device)
{
    return &turns[device->ordinal % SPEC_MAX_DEVICES];
}

bool cuda_turn_take(struct device *device, struct error *err)
{
    double began = clock_seconds();
    while (pthread_mutex_trylock(turn_of(device)) != 0) {
        if (!cuda_still_waits(device, "its turn on the GPU", began, err))
            return false;
        cuda_rest(began);
    }
    device->has_turn = true;
    return true;
}

void cuda_turn_give(struct device *device)
{
    if (!device->has_turn)
        return;
    device->has_turn = false;
    pthread_mutex_unlock(turn_of(device));
}

bool cuda_host_allreduce(struct device *device, const struct device_allreduce *allreduce,
                         double *values, size_t count, struct error *err)
{
    bool had_turn = device->has_turn;
    cuda_turn_give(device);
    return allreduce->sum(allreduce->context, values, count, err) &&
           (!had_turn || cuda_turn_take(device, err));
}

bool cuda_exchange_wait(struct device *device, const struct device_exchange *exchange,
                        const void *own, const void *const **all, struct error *err)
{
    bool had_turn = device->has_turn;
    cuda_turn_give(device);
    return exchange->wait(exchange->context, own, all, err) &&
           (!had_turn || cuda_turn_take(device, err));
}

bool cuda_wait_without_turn(struct device *device, const char *what, struct error *err)
{
    bool had_turn = device->has_turn;
    cuda_turn_give(device);
    return cuda_wait(device, device->stream, what, err) &&
           (!had_turn || cuda_turn_take(device, err));
}
