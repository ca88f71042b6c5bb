/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/device/cuda/libraries/api.h"
#include "engine/device/device.h"
#include "engine/nvml/nvml.h"
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifdef HAVE_NCCL
#include "engine/backends/registry.h"
#include "engine/device/cuda/libraries/nccl.h"
#endif

/*
 * For tests/gpu/run, "key: value" lines: the GPUs that the backend finds and the versions of its
 * libraries; with --nvml what NVML reports of the GPUs. Exit status 77: there is no GPU.
 */
enum { NO_GPU = 77 };

static int no_gpu(const char *why)
{
    printf("no GPU: %s\n", *why ? why : "none found");
    return NO_GPU;
}

static void print_libraries(void)
{
    struct error err = ERROR_INIT;
    int driver = 0, runtime = 0;
    if (cudaDriverGetVersion(&driver) == cudaSuccess &&
        cudaRuntimeGetVersion(&runtime) == cudaSuccess)
        printf("driver: for CUDA %d.%d\nruntime: CUDA %d.%d\n", driver / 1000, driver % 1000 / 10,
               runtime / 1000, runtime % 1000 / 10);
    const struct cudnn_api *dnn = cudnn_open(&err);
    if (dnn)
        printf("cuDNN: %zu\n", dnn->GetVersion());
    else
        printf("cuDNN: none: %s\n", err.text);
    err = (struct error)ERROR_INIT;
    const struct cublaslt_api *blas = cublaslt_open(&err);
    if (blas)
        printf("cuBLASLt: %zu\n", blas->GetVersion());
    else
        printf("cuBLASLt: none: %s\n", err.text);
#ifdef HAVE_NCCL
    err = (struct error)ERROR_INIT;
    int version = 0;
    const struct nccl_api *nccl = nccl_open(&err);
    if (nccl && nccl->GetVersion(&version) == ncclSuccess)
        printf("NCCL: %d\n", version);
    else
        printf("NCCL: none: %s\n", err.text);
#endif
}

static int print_devices(void)
{
    struct device_info list[SPEC_MAX_DEVICES];
    struct error err = ERROR_INIT;
    char why[200] = "", name[DEVICE_NAME];
    int count = 0;
    const char *missing = "";
    const struct backend *backend = backend_find(DEVICE_CUDA, &missing);
    if (!backend)
        return no_gpu(missing);
    if (!backend->enumerate(list, SPEC_MAX_DEVICES, &count, why, sizeof why, &err))
        return no_gpu(err.text);
    if (count == 0)
        return no_gpu(why);
    for (int i = 0; i < count; i++)
        printf(
            "%s: %s, %d multiprocessors, %.1f GiB, %s%s%s\n", device_id_text(list[i].id, name),
            list[i].name, list[i].cores, (double)list[i].memory_bytes / 0x1p30, list[i].uuid,
            list[i].available ? "" : ", cannot be used: ", list[i].available ? "" : list[i].reason);
    if (!list[0].available)
        return no_gpu(list[0].reason);
    printf("model: %s\nmemory: %.1f GiB\n", list[0].name, (double)list[0].memory_bytes / 0x1p30);
    print_libraries();
    return 0;
}

static void print_figure(const char *name, double value, const char *missing)
{
    if (isnan(value))
        printf("%s: unknown: %s\n", name, missing);
    else
        printf("%s: %.6g\n", name, value);
}

static int print_nvml(void)
{
    static struct gpu_list list;
    const struct nvml_options options = nvml_environment();
    struct error err = ERROR_INIT;
    struct nvml *nvml = NULL;
    if (!nvml_start(&nvml, &options, &err)) {
        printf("FAIL: %s\n", err.text);
        return 1;
    }
    bool told = nvml_wait(nvml, 10);
    nvml_read(nvml, &list);
    for (int i = 0; i < list.count; i++) {
        const struct gpu_figures *gpu = &list.gpu[i];
        printf("uuid: %s\nname: %s\n", gpu->uuid, gpu->name);
        print_figure("memory_total", (double)gpu->memory_total, "");
        print_figure("memory_used", (double)gpu->memory_used, "");
        print_figure("load", gpu->load, gpu->no_load.text);
        print_figure("tensor_load", gpu->tensor_load, gpu->no_tensor_load.text);
        print_figure("memory_load", gpu->memory_load, gpu->no_memory_load.text);
        for (int s = 0; s < SENSOR_FIGURES; s++)
            print_figure(sensor_name((enum sensor)s), gpu->sensors.figure[s],
                         gpu->sensors.missing[s].text);
        printf("throttle: %s\n", gpu->sensors.throttle_known
                                     ? gpu->sensors.throttle
                                     : gpu->sensors.missing[SENSOR_THROTTLE].text);
    }
    if (list.count == 0)
        printf("FAIL: NVML reports no GPU: %s\n", told ? list.none.text : "no answer in 10 s");
    return nvml_stop(nvml) && list.count > 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    return argc > 1 && strcmp(argv[1], "--nvml") == 0 ? print_nvml() : print_devices();
}
