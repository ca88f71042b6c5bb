/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/machine.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/device/cuda/dnn/conv/table.h"
#include "engine/device/cuda/libraries/driver.h"
#include "engine/device/cuda/pass/queue.h"
#include "engine/device/cuda/pass/rows.h"

/*
 * Every call here may take seconds, and in a sick driver never return. Nothing in this process can
 * end such a call, so it is only made on threads that nobody has to wait for: a request's task, a
 * run's worker, and the survey of GPUs (engine/server/devices/gpu_survey.h). The engine's own
 * thread answers meanwhile, and ends by _exit when one of them is still inside.
 */

#define CAPABILITY_NEEDED 8 /* major; the kernels are made for 8.0 and later, as is bf16 */

/* As NVML writes it. The runtime says that a device is a MIG instance in its name only. */
static void write_uuid(const struct cudaDeviceProp *properties, char *text, size_t size)
{
    const unsigned char *b = (const unsigned char *)properties->uuid.bytes;
    snprintf(text, size, "%s-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
             strstr(properties->name, " MIG ") ? "MIG" : "GPU", b[0], b[1], b[2], b[3], b[4], b[5],
             b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

/* What keeps a device from training; "": nothing. */
static void check_device(int ordinal, const struct cudaDeviceProp *properties, char *reason,
                         size_t size)
{
    int mode = cudaComputeModeDefault;
    *reason = '\0';
    if (properties->major < CAPABILITY_NEEDED)
        snprintf(reason, size, "needs compute capability %d.0, has %d.%d", CAPABILITY_NEEDED,
                 properties->major, properties->minor);
    else if (cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, ordinal) == cudaSuccess &&
             mode == cudaComputeModeProhibited)
        snprintf(reason, size,
                 "its compute mode forbids use: nvidia-smi --compute-mode=DEFAULT allows it");
}

static void describe(int ordinal, struct device_info *info)
{
    struct cudaDeviceProp properties;
    *info = (struct device_info){.id = {DEVICE_CUDA, ordinal}};
    cudaError_t status = cudaGetDeviceProperties(&properties, ordinal);
    if (status != cudaSuccess) {
        (void)cudaGetLastError();
        snprintf(info->name, sizeof info->name, "GPU");
        cuda_absence(status, info->reason, sizeof info->reason);
        return;
    }
    snprintf(info->name, sizeof info->name, "%s", properties.name);
    write_uuid(&properties, info->uuid, sizeof info->uuid);
    info->cores = properties.multiProcessorCount;
    info->memory_bytes = properties.totalGlobalMem;
    check_device(ordinal, &properties, info->reason, sizeof info->reason);
    info->available = !*info->reason;
}

bool cuda_enumerate(struct device_info *list, int capacity, int *count, char *why, size_t why_size,
                    struct error *err)
{
    (void)err;
    int found = 0;
    *count = 0;
    *why = '\0';
    cudaError_t status = cudaGetDeviceCount(&found);
    if (status == cudaSuccess && found == 0)
        status = cudaErrorNoDevice;
    if (status != cudaSuccess) {
        (void)cudaGetLastError();
        cuda_absence(status, why, why_size);
        return true;
    }
    *count = found < capacity ? found : capacity;
    for (int i = 0; i < *count; i++)
        describe(i, &list[i]);
    return true;
}

/* What the device is, and whether it will do; fills what depends on it. */
static bool examine(struct device *device, struct error *err)
{
    struct device_info info;
    int count = 0;
    char why[160];
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess) {
        (void)cudaGetLastError();
        cuda_absence(status, why, sizeof why);
        return error_set(err, ERROR_USAGE, "%s: %s", device->name, why);
    }
    if (device->ordinal < 0 || device->ordinal >= count)
        return error_set(err, ERROR_USAGE, "no device %s: this machine has %d GPU%s", device->name,
                         count, plural(count));
    describe(device->ordinal, &info);
    if (!info.available)
        return error_set(err, ERROR_USAGE, "%s (%s): %s", device->name, info.name, info.reason);
    snprintf(device->model, sizeof device->model, "%s", info.name);
    device->multiprocessors = info.cores;
    return true;
}

static bool make_handles(struct device *device, struct error *err)
{
    device->cudnn = cudnn_open(err);
    device->cublaslt = device->cudnn ? cublaslt_open(err) : NULL;
    if (!device->cublaslt)
        return error_prefix(err, "%s", device->name);
    bool ok =
        cuda_check(cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking), "stream",
                   err) &&
        cuda_check(cudaStreamCreateWithFlags(&device->side, cudaStreamNonBlocking), "stream",
                   err) &&
        cudnn_check(device->cudnn, device->cudnn->Create(&device->dnn), "cuDNN", err) &&
        cudnn_check(device->cudnn, device->cudnn->SetStream(device->dnn, device->stream), "cuDNN",
                    err) &&
        cublaslt_check(device->cublaslt, device->cublaslt->Create(&device->blas), "cuBLAS", err) &&
        cuda_queue_open(device, err);
    return ok || error_prefix(err, "%s (%s)", device->name, device->model);
}

bool cuda_open(const struct device_options *options, struct device **out, struct error *err)
{
    struct device *device = calloc(1, sizeof *device);
    if (!device)
        return error_memory(err, "device");
    device_id_text(options->id, device->name);
    device->ordinal = options->id.index;
    device->type = options->type == TYPE_DEFAULT ? TYPE_BF16 : options->type;
    device->storage = device->type == TYPE_BF16 ? CUDA_BF16 : CUDA_F32;
    device->deterministic = options->deterministic;
    device->watch = options->watch;
    if (!examine(device, err) || !cuda_select(device, err)) {
        free(device);
        return false;
    }
    cuda_count_open(1);
    if (!make_handles(device, err)) {
        cuda_close(device);
        return false;
    }
    *out = device;
    return true;
}

/* Lost and hanging devices: what they hold is left to the end of the process, as is a way to it for
 * leak checkers. */
static struct device *_Atomic left_behind;

static void leave_behind(struct device *device)
{
    device->next_left = atomic_load(&left_behind);
    while (!atomic_compare_exchange_weak(&left_behind, &device->next_left, device))
        continue;
}

void cuda_close(struct device *device)
{
    struct error err = ERROR_INIT;
    const bool at_rest = cuda_select(device, &err) && cuda_comes_to_rest(device);
    const bool is_written = device->shared && !cuda_all_at_rest(); /* by another, perhaps */
    cuda_count_open(-1);
    resident_rows_free(device->resident, at_rest && !is_written);
    if (!at_rest || is_written) {
        leave_behind(device);
        return;
    }
    cuda_queue_close(device);
    conv_table_destroy(device->convs);
    (void)cudaFree(device->workspace);
    (void)cudaFree(device->slots);
    (void)cudaFree(device->ends);
    if (device->blas)
        (void)device->cublaslt->Destroy(device->blas);
    if (device->dnn)
        (void)device->cudnn->Destroy(device->dnn);
    if (device->side)
        (void)cudaStreamDestroy(device->side);
    if (device->stream)
        (void)cudaStreamDestroy(device->stream);
    (void)cudaGetLastError();
    free(device->awaited);
    free(device);
}
