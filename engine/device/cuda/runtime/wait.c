/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/runtime/wait.h"

#include <time.h>

#include "base/array.h"
#include "base/clock.h"

#define SPIN_SECONDS 50e-6 /* a step's end comes soon or not so soon */
#define REST_SECONDS 20e-6

/* Whatever came before the first event that is not there has been done, by all GPUs. */
static const char *culprit(const struct device *device)
{
    for (int i = 0; i < device->awaited_count; i++) {
        const cudaError_t status = cudaEventQuery(device->awaited[i].event);
        if (status == cudaErrorNotReady)
            (void)cudaGetLastError();
        if (status != cudaSuccess)
            return device->awaited[i].name;
    }
    return NULL;
}

static bool time_is_up(const struct device *device, const char *what, struct error *err)
{
    const char *other = culprit(device);
    if (other)
        return error_set(err, ERROR_FAILED,
                         "%s gave up after %.0f s of waiting for %s; see dmesg and nvidia-smi for "
                         "what the GPU does, then restart the engine (dpartui engine stop --now)",
                         device->name, device->watch.limit_s, other);
    return error_set(err, ERROR_FAILED,
                     "%s (%s) did not finish %s within %.0f s; see dmesg and nvidia-smi for "
                     "what the GPU does, then restart the engine (dpartui engine stop --now)",
                     device->name, device->model, what, device->watch.limit_s);
}

bool cuda_still_waits(const struct device *device, const char *what, double began,
                      struct error *err)
{
    const struct device_watch *watch = &device->watch;
    if (watch->called_off && watch->called_off(watch->context))
        return error_set(err, ERROR_CANCELLED, "%s: waiting for %s was called off", device->name,
                         what);
    /* Before the device's own limit, by an earlier time: a device that waits for another is not to
     * blame. */
    const double waited = clock_seconds() - began;
    if (watch->check && !watch->check(watch->context, err))
        return false;
    if (watch->limit_s > 0 && waited > watch->limit_s)
        return time_is_up(device, what, err);
    return true;
}

void cuda_rest(double began)
{
    const struct timespec rest = {.tv_nsec = (long)(REST_SECONDS * 1e9)};
    if (clock_seconds() - began > SPIN_SECONDS)
        nanosleep(&rest, NULL);
}

/* The event where there is one, else all of the stream. */
static cudaError_t query(cudaStream_t stream, cudaEvent_t event)
{
    return event ? cudaEventQuery(event) : cudaStreamQuery(stream);
}

static bool wait_for(const struct device *device, cudaStream_t stream, cudaEvent_t event,
                     const char *what, struct error *err)
{
    double began = clock_seconds();
    cudaError_t status = query(stream, event);
    bool waited = status == cudaErrorNotReady;
    while (status == cudaErrorNotReady && cuda_still_waits(device, what, began, err)) {
        cuda_rest(began);
        status = query(stream, event);
    }
    /* The runtime remembers "not ready" like an error, and a launch later would be blamed. */
    if (waited)
        (void)cudaGetLastError();
    if (status == cudaErrorNotReady)
        return false;
    /* An aborted reduction ends, too, but its sums are invalid. */
    if (status == cudaSuccess)
        return !device->watch.check || device->watch.check(device->watch.context, err);
    return error_set(err, ERROR_FAILED,
                     "%s (%s): %s: %s (%s); see dmesg, and restart the engine (dpartui engine "
                     "stop) before it uses this GPU again",
                     device->name, device->model, what, cudaGetErrorString(status),
                     cudaGetErrorName(status));
}

bool cuda_wait(const struct device *device, cudaStream_t stream, const char *what,
               struct error *err)
{
    return wait_for(device, stream, NULL, what, err);
}

bool cuda_wait_event(const struct device *device, cudaEvent_t event, const char *what,
                     struct error *err)
{
    return wait_for(device, NULL, event, what, err);
}

bool cuda_wait_for_other(struct device *device, cudaEvent_t event, const char *name,
                         struct error *err)
{
    struct awaited *list =
        array_grow(device->awaited, device->awaited_count, &device->awaited_room, sizeof *list);
    if (!list)
        return error_memory(err, "what a pass waits for");
    device->awaited = list;
    device->awaited[device->awaited_count++] = (struct awaited){event, name};
    return cuda_check(cudaStreamWaitEvent(device->stream, event, 0), "wait for another GPU", err);
}

void cuda_wait_is_over(struct device *device)
{
    device->awaited_count = 0;
}
