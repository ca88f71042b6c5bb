/* SPDX-License-Identifier: MIT */
#include <link.h>
#include <string.h>

#include "base/clock.h"
#include "engine/device/cuda/runtime/device.h"
#include "tests/gpu/probe.h"
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifdef HAVE_NCCL
#include "engine/backends/registry.h"
#include "engine/device/cuda/libraries/nccl.h"
#endif

static int say_loaded(struct dl_phdr_info *info, size_t size, void *context)
{
    static const char *const names[] = {"libcuda",  "libcublas", "libcudnn",
                                        "libnvrtc", "libnccl",   "libnv"};
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *file = slash ? slash + 1 : info->dlpi_name;
    (void)size;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(file, names[i], strlen(names[i])) == 0) {
            probe_say(context, "loaded: %s", info->dlpi_name);
            break;
        }
    return 0;
}

void probe_loaded(const struct probe *probe)
{
    dl_iterate_phdr(say_loaded, (void *)(uintptr_t)probe);
}

static int say_versions(const struct probe *probe)
{
    struct error err = ERROR_INIT;
    int driver = 0, runtime = 0, failed = 0;
    if (!cuda_check(cudaDriverGetVersion(&driver), "driver", &err) ||
        !cuda_check(cudaRuntimeGetVersion(&runtime), "runtime", &err))
        failed += probe_fail(probe, "%s", err.text);
    probe_say(probe, "driver: for CUDA %d; runtime: CUDA %d", driver, runtime);
    const struct cudnn_api *dnn = cudnn_open(&err);
    if (dnn)
        probe_say(probe, "cuDNN: %zu, built with the headers of %d", dnn->GetVersion(),
                  CUDNN_VERSION);
    else
        failed += probe_fail(probe, "%s", err.text);
    const struct cublaslt_api *blas = cublaslt_open(&err);
    if (blas)
        probe_say(probe, "cuBLASLt: %zu, built with the headers of %d", blas->GetVersion(),
                  CUBLAS_VERSION);
    else
        failed += probe_fail(probe, "%s", err.text);
#ifdef HAVE_NCCL
    int version = 0;
    const struct nccl_api *nccl = nccl_open(&err);
    if (nccl && nccl_check(nccl, nccl->GetVersion(&version), "NCCL", &err))
        probe_say(probe, "NCCL: %d, built with the headers of %d", version, NCCL_VERSION_CODE);
    else
        failed += probe_fail(probe, "%s", err.text);
#endif
    return failed;
}

static int say_device(const struct probe *probe, const struct backend *backend)
{
    const struct device_options options = {.id = {DEVICE_CUDA, 0}, .type = probe->type};
    struct device_facts facts;
    struct device *device;
    struct error err = ERROR_INIT;
    const double begin = clock_seconds();
    if (!backend->open(&options, &device, &err))
        return probe_fail(probe, "%s", err.text);
    probe_say(probe, "%s: %s, opened in %.2f s", device->name, device->model,
              clock_seconds() - begin);
    const bool known = backend->facts(device, &facts, &err);
    if (known)
        probe_say(probe, "%d multiprocessors at up to %d MHz, %.1f GiB free of %.1f%s%s",
                  facts.multiprocessors, facts.clock_mhz, (double)facts.memory_free / 0x1p30,
                  (double)facts.memory_total / 0x1p30, *facts.collective_error ? "; " : "",
                  facts.collective_error);
    probe_loaded(probe);
    backend->close(device);
    return known ? 0 : probe_fail(probe, "%s", err.text);
}

int probe_libraries(const struct probe *probe)
{
    const char *why = "";
    const struct backend *backend = backend_find(DEVICE_CUDA, &why);
    if (!backend)
        return probe_fail(probe, "%s", why);
    return say_versions(probe) + say_device(probe, backend);
}
