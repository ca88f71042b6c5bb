/* SPDX-License-Identifier: MIT */
#include "tests/fakes/fake_nvml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_GPUS 64
#define MAX_MIG  7

struct nvml_handle {
    int gpu, mig; /* mig -1: the whole GPU */
};

struct nvml_gpm_sample {
    int taken;
};

static struct fake_nvml fake;
static struct nvml_handle whole[MAX_GPUS], part[MAX_GPUS][MAX_MIG];

static int setting(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

/* The GPUs do nothing but these. */
static void take_processes(const char *list)
{
    fake.gpm = fake.percent = 0;
    fake.memory_used = 400ULL << 20;
    for (const char *at = list; at && fake.processes < FAKE_PROCESSES_MOST;) {
        struct fake_process *process = &fake.process[fake.processes];
        unsigned long long gib = 0;
        if (sscanf(at, "%d:%u:%llu:%u", &process->gpu, &process->pid, &gib, &process->percent) == 4)
            fake.processes++;
        process->memory = gib << 30;
        process->pid = process->pid ? process->pid : (unsigned)getpid();
        at = strchr(at, ',');
        at = at ? at + 1 : NULL;
    }
}

__attribute__((constructor)) static void begin(void)
{
    fake.gpus = setting("FAKE_NVML_GPUS", 1);
    fake.mig = setting("FAKE_NVML_MIG", 0);
    fake.lost = setting("FAKE_NVML_LOST", -1);
    fake.stalled = setting("FAKE_NVML_STALL", -1);
    fake.code[FAKE_INIT] = setting("FAKE_NVML_INIT", NVML_SUCCESS);
    fake.gpm = 1;
    fake.watts = 400;
    fake.celsius = 50;
    fake.percent = 40;
    fake.kilobytes = 3000;
    fake.memory_used = 10ULL << 30;
    if (getenv("FAKE_NVML_PROCESSES"))
        take_processes(getenv("FAKE_NVML_PROCESSES"));
    for (int i = 0; i < MAX_GPUS; i++) {
        whole[i] = (struct nvml_handle){i, -1};
        for (int j = 0; j < MAX_MIG; j++)
            part[i][j] = (struct nvml_handle){i, j};
    }
}

/* What a call about a GPU answers, after hanging as long as it is told to. */
static int answer(enum fake_call call, const struct nvml_handle *handle)
{
    fake.calls++;
    fake.waiting++;
    while (fake.stalled == (int)call)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    fake.waiting--;
    if (handle && handle->gpu == fake.lost)
        return NVML_GPU_IS_LOST;
    return fake.code[call];
}

/* A function of the library, declared as headers of NVML would. */
#define FAKE(name, ...)                                                                            \
    int name(__VA_ARGS__);                                                                         \
    int name(__VA_ARGS__)

struct fake_nvml *fake_nvml(void)
{
    return &fake;
}

FAKE(nvmlInit_v2, void)
{
    int code = answer(FAKE_INIT, NULL);
    fake.open += code == NVML_SUCCESS;
    return code;
}

FAKE(nvmlShutdown, void)
{
    fake.open--;
    return NVML_SUCCESS;
}

FAKE(nvmlDeviceGetCount_v2, unsigned *count)
{
    *count = (unsigned)fake.gpus;
    return answer(FAKE_COUNT, NULL);
}

FAKE(nvmlDeviceGetHandleByIndex_v2, unsigned index, struct nvml_handle **handle)
{
    *handle = &whole[index];
    return answer(FAKE_HANDLE, *handle);
}

FAKE(nvmlDeviceGetUUID, struct nvml_handle *handle, char *text, unsigned size)
{
    if (handle->mig < 0)
        snprintf(text, size, "GPU-%02d000000-0000-4000-8000-000000000000", handle->gpu);
    else
        snprintf(text, size, "MIG-%02d%02d0000-0000-5000-8000-000000000000", handle->gpu,
                 handle->mig);
    return answer(FAKE_UUID, handle);
}

FAKE(nvmlDeviceGetName, struct nvml_handle *handle, char *text, unsigned size)
{
    snprintf(text, size, handle->mig < 0 ? "NVIDIA Made-up 80GB" : "NVIDIA Made-up 80GB MIG 1g");
    return answer(FAKE_NAME, handle);
}

/* What a process that is not on this GPU has of it is 0. */
static const struct fake_process *process_on(const struct nvml_handle *handle, int which)
{
    static const struct fake_process none;
    const struct fake_process *process = &fake.process[which];
    return handle->mig < 0 && process->gpu == handle->gpu ? process : &none;
}

FAKE(nvmlDeviceGetMemoryInfo, struct nvml_handle *handle, struct nvml_memory *memory)
{
    memory->total = FAKE_MEMORY_TOTAL >> (handle->mig < 0 ? 0 : 3);
    memory->used = handle->mig < 0 ? fake.memory_used : 0;
    for (int i = 0; i < fake.processes; i++)
        memory->used += process_on(handle, i)->memory;
    memory->free = memory->total - memory->used;
    return answer(FAKE_MEMORY, handle);
}

FAKE(nvmlDeviceGetUtilizationRates, struct nvml_handle *handle, struct nvml_utilization *use)
{
    use->gpu = (unsigned)fake.percent;
    for (int i = 0; i < fake.processes; i++)
        use->gpu += process_on(handle, i)->percent;
    use->memory = 5;
    return handle->mig < 0 ? answer(FAKE_UTILIZATION, handle) : NVML_NOT_SUPPORTED;
}

FAKE(nvmlDeviceGetTemperature, struct nvml_handle *handle, int sensor, unsigned *celsius)
{
    *celsius = (unsigned)(fake.celsius + sensor);
    return answer(FAKE_TEMPERATURE, handle);
}

FAKE(nvmlDeviceGetPowerUsage, struct nvml_handle *handle, unsigned *milliwatts)
{
    *milliwatts = (unsigned)(fake.watts + handle->gpu) * 1000;
    return answer(FAKE_POWER, handle);
}

FAKE(nvmlDeviceGetPowerManagementLimit, struct nvml_handle *handle, unsigned *milliwatts)
{
    *milliwatts = 650000;
    return answer(FAKE_POWER_LIMIT, handle);
}

FAKE(nvmlDeviceGetTotalEnergyConsumption, struct nvml_handle *handle,
     unsigned long long *millijoules)
{
    *millijoules = fake.millijoules + 1000000ULL * (unsigned)handle->gpu;
    return answer(FAKE_ENERGY, handle);
}

FAKE(nvmlDeviceGetClockInfo, struct nvml_handle *handle, int kind, unsigned *mhz)
{
    *mhz = kind == NVML_CLOCK_SM ? 1755 : 9999;
    return answer(FAKE_CLOCK, handle);
}

FAKE(nvmlDeviceGetMaxClockInfo, struct nvml_handle *handle, int kind, unsigned *mhz)
{
    *mhz = kind == NVML_CLOCK_SM ? 1980 : 9999;
    return answer(FAKE_CLOCK_MAX, handle);
}

FAKE(nvmlDeviceGetCurrentClocksThrottleReasons, struct nvml_handle *handle, unsigned long long *why)
{
    *why = fake.throttle;
    return answer(FAKE_THROTTLE, handle);
}

FAKE(nvmlDeviceGetPcieThroughput, struct nvml_handle *handle, int direction, unsigned *kilobytes)
{
    *kilobytes = (unsigned)fake.kilobytes * (direction == NVML_PCIE_RX ? 2 : 1);
    return answer(FAKE_PCIE, handle);
}

#ifndef FAKE_NVML_OLD

FAKE(nvmlDeviceGetComputeRunningProcesses_v3, struct nvml_handle *handle, unsigned *count,
     struct nvml_process *list)
{
    unsigned found = 0;
    for (int i = 0; i < fake.processes; i++) {
        const struct fake_process *process = process_on(handle, i);
        if (process->pid && found < *count)
            list[found++] = (struct nvml_process){.pid = process->pid, .memory = process->memory};
    }
    *count = found;
    return answer(FAKE_PROCESSES, handle);
}

/* A process that draws is also among those that compute. */
FAKE(nvmlDeviceGetGraphicsRunningProcesses_v3, struct nvml_handle *handle, unsigned *count,
     struct nvml_process *list)
{
    *count = *count > 1 ? 1 : *count;
    return nvmlDeviceGetComputeRunningProcesses_v3(handle, count, list);
}

/* An older sample comes first. */
FAKE(nvmlDeviceGetProcessUtilization, struct nvml_handle *handle, struct nvml_process_use *list,
     unsigned *count, unsigned long long since)
{
    unsigned found = 0;
    for (int i = 0; i < fake.processes; i++) {
        const struct fake_process *process = process_on(handle, i);
        for (unsigned j = 1; process->pid && process->percent && j <= 2 && found < *count; j++)
            list[found++] = (struct nvml_process_use){
                .pid = process->pid, .timestamp = since + j, .gpu = j * process->percent / 2};
    }
    *count = found;
    return found ? answer(FAKE_PROCESSES, handle) : NVML_NOT_FOUND;
}

FAKE(nvmlDeviceGetMemoryInfo_v2, struct nvml_handle *handle, struct nvml_memory_v2 *memory)
{
    struct nvml_memory old;
    if (memory->version != 0x02000028)
        return NVML_UNKNOWN;
    int code = nvmlDeviceGetMemoryInfo(handle, &old);
    memory->total = old.total;
    memory->reserved = old.used / 10;
    memory->free = old.free;
    memory->used = old.used - memory->reserved;
    return code;
}

FAKE(nvmlDeviceGetTemperatureV, struct nvml_handle *handle, struct nvml_temperature_v1 *now)
{
    now->celsius = fake.celsius;
    return now->version == 0x100000C ? answer(FAKE_TEMPERATURE, handle) : NVML_UNKNOWN;
}

FAKE(nvmlDeviceGetEnforcedPowerLimit, struct nvml_handle *handle, unsigned *milliwatts)
{
    *milliwatts = 700000;
    return answer(FAKE_POWER_LIMIT, handle);
}

FAKE(nvmlDeviceGetCurrentClocksEventReasons, struct nvml_handle *handle, unsigned long long *why)
{
    return nvmlDeviceGetCurrentClocksThrottleReasons(handle, why);
}

FAKE(nvmlDeviceGetMigMode, struct nvml_handle *handle, unsigned *current, unsigned *pending)
{
    *current = *pending = fake.mig > 0;
    return answer(FAKE_HANDLE, handle);
}

FAKE(nvmlDeviceGetMaxMigDeviceCount, struct nvml_handle *handle, unsigned *count)
{
    *count = MAX_MIG;
    return answer(FAKE_HANDLE, handle);
}

/* There are places without an instance. */
FAKE(nvmlDeviceGetMigDeviceHandleByIndex, struct nvml_handle *handle, unsigned index,
     struct nvml_handle **mig)
{
    *mig = &part[handle->gpu][index];
    return (int)index < fake.mig ? answer(FAKE_HANDLE, handle) : NVML_NOT_FOUND;
}

FAKE(nvmlDeviceGetGpuInstanceId, struct nvml_handle *handle, unsigned *id)
{
    *id = (unsigned)handle->mig + 7;
    return answer(FAKE_GPM, handle);
}

FAKE(nvmlDeviceGetAttributes_v2, struct nvml_handle *handle, struct nvml_attributes *attributes)
{
    *attributes = (struct nvml_attributes){.multiprocessors = 16};
    return handle->mig < 0 ? NVML_NOT_SUPPORTED : NVML_SUCCESS;
}

FAKE(nvmlDeviceGetFieldValues, struct nvml_handle *handle, int count, struct nvml_field *fields)
{
    int code = answer(FAKE_FIELDS, handle);
    for (int i = 0; i < count; i++) {
        fields[i].code = code;
        fields[i].type = NVML_VALUE_UNSIGNED_LONG_LONG;
        fields[i].value.wide = fields[i].id == NVML_FIELD_PCIE_RX_BYTES ? fake.received : fake.sent;
    }
    return NVML_SUCCESS;
}

FAKE(nvmlGpmQueryDeviceSupport, struct nvml_handle *handle, struct nvml_gpm_support *support)
{
    support->supported = (unsigned)fake.gpm;
    return support->version == 1 ? answer(FAKE_GPM, handle) : NVML_UNKNOWN;
}

FAKE(nvmlGpmSampleAlloc, struct nvml_gpm_sample **sample)
{
    *sample = calloc(1, sizeof **sample);
    fake.samples++;
    return *sample ? NVML_SUCCESS : NVML_MEMORY;
}

FAKE(nvmlGpmSampleFree, struct nvml_gpm_sample *sample)
{
    fake.samples--;
    free(sample);
    return NVML_SUCCESS;
}

FAKE(nvmlGpmSampleGet, struct nvml_handle *handle, struct nvml_gpm_sample *sample)
{
    sample->taken = 1;
    return handle->mig < 0 && !fake.mig ? answer(FAKE_GPM, handle) : NVML_NOT_SUPPORTED;
}

FAKE(nvmlGpmMigSampleGet, struct nvml_handle *handle, unsigned id, struct nvml_gpm_sample *sample)
{
    sample->taken = 1;
    return handle->mig < 0 && (int)id >= 7 ? answer(FAKE_GPM, handle) : NVML_NOT_SUPPORTED;
}

FAKE(nvmlGpmMetricsGet, struct nvml_gpm_metrics *metrics)
{
    if (metrics->version != 1 || !metrics->older->taken || !metrics->newer->taken)
        return NVML_UNKNOWN;
    for (unsigned i = 0; i < metrics->count; i++) {
        struct nvml_gpm_metric *metric = &metrics->metric[i];
        metric->code = NVML_SUCCESS;
        metric->value = metric->id == NVML_GPM_SM_UTIL      ? 37.5
                        : metric->id == NVML_GPM_ANY_TENSOR ? 12.0
                                                            : 25.0;
    }
    return fake.code[FAKE_GPM];
}

#endif
