/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/runtime/device.h"

#include <math.h>
#include <stdatomic.h>

#include "engine/device/cuda/runtime/wait.h"

bool cuda_select(const struct device *device, struct error *err)
{
    cudaError_t status = cudaSetDevice(device->ordinal);
    if (status == cudaErrorDevicesUnavailable) {
        (void)cudaGetLastError();
        return error_set(
            err, ERROR_FAILED,
            "%s is busy: another process has it for itself; see nvidia-smi for that and "
            "for its compute mode",
            device->name);
    }
    return cuda_check(status, device->name, err);
}

static atomic_int open_devices,
    unruly; /* of the process; those of them that did not come to rest */

void cuda_count_open(int change)
{
    if (atomic_fetch_add(&open_devices, change) + change == 0)
        atomic_store(&unruly, 0);
}

bool cuda_all_at_rest(void)
{
    return atomic_load(&unruly) == 0;
}

/* Several passes may be queued on a device that is well. */
#define CLOSE_SECONDS 10.0

/* Freeing waits for the device, without end when it hangs. */
bool cuda_comes_to_rest(struct device *device)
{
    struct device patient = *device;
    struct error err = ERROR_INIT;
    const double limit_s = device->watch.limit_s;
    patient.awaited_count = 0; /* whoever is to blame may be gone */
    patient.watch = (struct device_watch){.limit_s = limit_s > 0 ? fmin(limit_s, CLOSE_SECONDS)
                                                                 : CLOSE_SECONDS};
    if (device->given_up)
        return false;
    device->given_up = (device->stream && !cuda_wait(&patient, device->stream, "the end", &err)) ||
                       (device->side && !cuda_wait(&patient, device->side, "the end", &err));
    if (device->given_up)
        atomic_fetch_add(&unruly, 1);
    return !device->given_up;
}

bool cuda_reach(struct device *device, struct device_id other, struct error *err)
{
    int can = 0;
    device->shared = true;
    if (other.index == device->ordinal)
        return true;
    if (!cuda_check(cudaDeviceCanAccessPeer(&can, device->ordinal, other.index), "peer access",
                    err))
        return error_prefix(err, "%s", device->name);
    if (!can)
        return true;
    /* Already enabled, or for too many: copies then go as they can. */
    if (cudaDeviceEnablePeerAccess(other.index, 0) != cudaSuccess)
        (void)cudaGetLastError();
    return true;
}
