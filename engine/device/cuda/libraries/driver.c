/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/libraries/driver.h"

#include <stdio.h>
#include <stdlib.h>

static int version_of(cudaError_t (*ask)(int *))
{
    int version = 0;
    if (ask(&version) != cudaSuccess)
        (void)cudaGetLastError();
    return version;
}

/* The runtime finds no library of the driver, or one that is older than itself. */
static void say_insufficient(char *why, size_t size)
{
    int has = version_of(cudaDriverGetVersion), made_for = version_of(cudaRuntimeGetVersion);
    if (has == 0)
        snprintf(why, size, "no NVIDIA driver is installed (libcuda.so.1 was not found)");
    else
        snprintf(
            why, size,
            "the NVIDIA driver is too old: it has CUDA %d.%d, this program needs %d.0 or later; "
            "update the driver",
            has / 1000, has % 1000 / 10, made_for / 1000);
}

static void say_no_device(char *why, size_t size)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (visible)
        snprintf(why, size,
                 "CUDA_VISIBLE_DEVICES=%.60s hides every GPU: unset it and restart the "
                 "engine",
                 visible);
    else
        snprintf(why, size, "the NVIDIA driver has found no GPU: see nvidia-smi and dmesg");
}

static const char *known_words(cudaError_t status)
{
    switch ((int)status) {
    case cudaErrorStubLibrary:
        return "a CUDA toolkit's stub stands before the NVIDIA driver: take the toolkit's folder "
               "lib64/stubs out of LD_LIBRARY_PATH";
    case cudaErrorSystemDriverMismatch:
        return "the NVIDIA driver and its library are of different versions: reboot after the "
               "driver's update";
    case cudaErrorSystemNotReady:
        return "the GPUs' switches are not ready: start the service nvidia-fabricmanager";
    case cudaErrorCompatNotSupportedOnDevice:
        return "this GPU does not take CUDA's compatibility package: remove cuda-compat and update "
               "the driver";
    case cudaErrorDevicesUnavailable:
        return "every GPU is busy or forbidden: see nvidia-smi for processes and compute mode";
    case cudaErrorOperatingSystem:
    case cudaErrorNotPermitted:
        return "the system keeps this process from the GPUs: see the rights of /dev/nvidia*";
    case cudaErrorInitializationError:
    case cudaErrorUnknown:
        return "the NVIDIA driver cannot be used: see dmesg and nvidia-smi";
    default:
        return NULL;
    }
}

void cuda_absence(cudaError_t status, char *why, size_t size)
{
    const char *words = known_words(status);
    if (status == cudaErrorInsufficientDriver)
        say_insufficient(why, size);
    else if (status == cudaErrorNoDevice)
        say_no_device(why, size);
    else if (words)
        snprintf(why, size, "%s", words);
    else
        snprintf(why, size, "the NVIDIA driver cannot be used: %s (%s); see dmesg and nvidia-smi",
                 cudaGetErrorString(status), cudaGetErrorName(status));
}
