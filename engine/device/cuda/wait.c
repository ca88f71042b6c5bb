/* SPDX-License-Identifier: MIT */
#include <time.h>

#include "base/clock.h"
#include "engine/device/cuda/cuda.h"

#define SPIN_SECONDS 50e-6 /* a step's end comes soon or not so soon */
#define REST_SECONDS 20e-6

static bool still_running(const struct device *device, const char *what, double began,
                          struct error *err)
{
    const struct device_watch *watch = &device->watch;
    if (watch->called_off && watch->called_off(watch->context))
        return error_set(err, ERROR_CANCELLED, "%s: waiting for %s was called off", device->name,
                         what);
    if (watch->limit_s > 0 && clock_seconds() - began > watch->limit_s)
        return error_set(err, ERROR_FAILED,
                         "%s (%s) did not finish %s within %.0f s; see dmesg and nvidia-smi for "
                         "what the GPU does, then restart the engine (dpartui engine stop --now)",
                         device->name, device->model, what, watch->limit_s);
    return true;
}

bool cuda_wait(const struct device *device, cudaStream_t stream, const char *what,
               struct error *err)
{
    const struct timespec rest = {.tv_nsec = (long)(REST_SECONDS * 1e9)};
    double began = clock_seconds();
    cudaError_t status = cudaStreamQuery(stream);
    bool waited = status == cudaErrorNotReady;
    while (status == cudaErrorNotReady && still_running(device, what, began, err)) {
        if (clock_seconds() - began > SPIN_SECONDS)
            nanosleep(&rest, NULL);
        status = cudaStreamQuery(stream);
    }
    /* The runtime remembers "not ready" like an error, and a launch later would be blamed. */
    if (waited)
        (void)cudaGetLastError();
    if (status == cudaErrorNotReady)
        return false;
    return status == cudaSuccess ||
           error_set(err, ERROR_FAILED,
                     "%s (%s): %s: %s (%s); see dmesg, and restart the engine (dpartui engine "
                     "stop) before it uses this GPU again",
                     device->name, device->model, what, cudaGetErrorString(status),
                     cudaGetErrorName(status));
}
