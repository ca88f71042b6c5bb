/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/facts.h"

#include <stdio.h>

#include "config.h"
#include "engine/device/cuda/runtime/device.h"

#ifdef HAVE_NCCL
#include "engine/device/cuda/libraries/nccl.h"

static void say_links(struct device_facts *facts)
{
    struct error err = ERROR_INIT;
    if (!nccl_open(&err))
        snprintf(facts->collective_error, sizeof facts->collective_error, "%.300s", err.text);
}

static int nccl_version(void)
{
    struct error ignored = ERROR_INIT;
    const struct nccl_api *api = nccl_open(&ignored);
    int version = 0;
    return api && api->GetVersion(&version) == ncclSuccess ? version : 0;
}
#else
static int nccl_version(void)
{
    return 0;
}

static void say_links(struct device_facts *facts)
{
    snprintf(facts->collective_error, sizeof facts->collective_error, "built without NCCL");
}
#endif

/* What cannot be found out is not known, and no reason to fail. */
static int attribute(const struct device *device, enum cudaDeviceAttr which)
{
    int value = 0;
    if (cudaDeviceGetAttribute(&value, which, device->ordinal) != cudaSuccess) {
        (void)cudaGetLastError();
        return 0;
    }
    return value;
}

/*
 * Operations of a multiprocessor per clock cycle, without sparsity: tensor cores with sums in f32,
 * and multiply-adds in f32. NVIDIA's architecture papers for A100, H100 and B200; the same
 * generations' GPUs for screens have halves of it here and there, and are not known.
 */
static double operations_per_cycle(int capability, enum number_type type)
{
    static const struct {
        int capability;
        double bf16, tf32, f32;
    } known[] = {{80, 2048, 1024, 128}, {90, 4096, 2048, 256}, {100, 8192, 4096, 256}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].capability == capability)
            return type == TYPE_BF16   ? known[i].bf16
                   : type == TYPE_TF32 ? known[i].tf32
                                       : known[i].f32;
    return 0;
}

/* From the device's properties, at its highest clocks; memory moves numbers twice a cycle. */
static void find_limits(const struct device *device, struct device_facts *facts)
{
    const int capability = 10 * attribute(device, cudaDevAttrComputeCapabilityMajor) +
                           attribute(device, cudaDevAttrComputeCapabilityMinor);
    facts->flops_limit = operations_per_cycle(capability, device->type) * device->multiprocessors *
                         1e3 * attribute(device, cudaDevAttrClockRate);
    facts->bytes_limit = 2 * 1e3 * (double)attribute(device, cudaDevAttrMemoryClockRate) *
                         attribute(device, cudaDevAttrGlobalMemoryBusWidth) / 8;
}

static uint64_t readable(const struct device *device)
{
    uint64_t reads = 0;
    int count = 0, can = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess)
        count = 0;
    for (int i = 0; i < count && i < 64; i++)
        if (i == device->ordinal ||
            (cudaDeviceCanAccessPeer(&can, device->ordinal, i) == cudaSuccess && can))
            reads |= UINT64_C(1) << i;
    return reads;
}

bool cuda_facts(struct device *device, struct device_facts *out, struct error *err)
{
    size_t available = 0, total = 0;
    *out = (struct device_facts){.type = device->type,
                                 .multiprocessors = device->multiprocessors,
                                 .clock_mhz = attribute(device, cudaDevAttrClockRate) / 1000,
                                 .reads = readable(device)};
    if (!cuda_check(cudaMemGetInfo(&available, &total), "memory", err))
        return error_prefix(err, "%s", device->name);
    out->memory_free = available;
    out->memory_total = total;
    if (cudaDriverGetVersion(&out->driver) != cudaSuccess)
        out->driver = 0;
    if (cudaRuntimeGetVersion(&out->runtime) != cudaSuccess)
        out->runtime = 0;
    find_limits(device, out);
    say_links(out);
    return true;
}

void cuda_libraries(char *buffer, size_t size)
{
    struct error ignored = ERROR_INIT;
    const struct cudnn_api *cudnn = cudnn_open(&ignored);
    int runtime = 0, driver = 0, nccl = nccl_version();
    const int dnn = cudnn ? (int)cudnn->GetVersion() : 0;
    char parts[2][40] = {"", ""};
    if (cudaRuntimeGetVersion(&runtime) != cudaSuccess)
        runtime = 0;
    if (cudaDriverGetVersion(&driver) != cudaSuccess)
        driver = 0;
    /* 91900: 9.19.0, and 22809: 2.28.9. */
    if (dnn)
        snprintf(parts[0], sizeof parts[0], ", cuDNN %d.%d.%d", dnn / 10000, dnn / 100 % 100,
                 dnn % 100);
    if (nccl)
        snprintf(parts[1], sizeof parts[1], ", NCCL %d.%d.%d", nccl / 10000, nccl / 100 % 100,
                 nccl % 100);
    snprintf(buffer, size, "CUDA %d.%d (driver %d.%d)%s%s", runtime / 1000, runtime % 1000 / 10,
             driver / 1000, driver % 1000 / 10, parts[0], parts[1]);
}
