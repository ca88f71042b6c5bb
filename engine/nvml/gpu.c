/* SPDX-License-Identifier: MIT */
#include "engine/nvml/gpu.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/nvml/library.h"
#include "engine/nvml/processes.h"
#include "engine/telemetry/device_sensors.h"

/* What a viewer can see: a hundredth of load, a degree, a watt, a MiB of memory. */
#define LOAD_STEP   0.01
#define MEMORY_STEP ((uint64_t)1 << 20)
/* Bytes a second of the PCIe link: finer than anybody needs, coarser than what always trembles. */
#define PCIE_STEP 1e5

/* One round of questions to one GPU. */
struct reading {
    const struct nvml_api *api;
    struct nvml_gpu *gpu;
    bool changed, restart;
    int broken; /* the first code that says that the whole GPU cannot be used; 0: none */
};

static void say(struct reading *reading, struct sensor_reason *reason, const char *text)
{
    if (strcmp(reason->text, text) == 0)
        return;
    snprintf(reason->text, sizeof reason->text, "%s", text);
    reading->changed = true;
}

/* Did the driver answer? Else the reason is the one of its code. */
static bool answered(struct reading *reading, int code, struct sensor_reason *reason)
{
    if (code == NVML_GPU_IS_LOST || code == NVML_RESET_REQUIRED)
        reading->broken = reading->broken ? reading->broken : code;
    reading->restart |= code == NVML_UNINITIALIZED || code == NVML_DRIVER_NOT_LOADED;
    say(reading, reason, code == NVML_SUCCESS ? "" : nvml_words(code));
    return code == NVML_SUCCESS;
}

static void put_sensor(struct reading *reading, enum sensor sensor, int code, double value,
                       double step)
{
    struct device_sensors *sensors = &reading->gpu->figures.sensors;
    bool known = answered(reading, code, &sensors->missing[sensor]);
    reading->changed |= sensor_show(&sensors->figure[sensor], known ? value : NAN, step);
}

static void read_temperature(struct reading *reading)
{
    struct nvml_temperature_v1 now = {.sensor = NVML_TEMPERATURE_GPU};
    unsigned celsius = 0;
    now.version = NVML_VERSION_OF(now, 1);
    int code = NVML_CALL(reading->api, temperature_v, reading->gpu->handle, &now);
    if (code != NVML_SUCCESS && reading->api->temperature) {
        code = reading->api->temperature(reading->gpu->handle, NVML_TEMPERATURE_GPU, &celsius);
        now.celsius = (int)celsius;
    }
    put_sensor(reading, SENSOR_TEMPERATURE, code, now.celsius, 1);
}

static void read_power(struct reading *reading)
{
    unsigned milliwatts = 0;
    int code = NVML_CALL(reading->api, power, reading->gpu->handle, &milliwatts);
    put_sensor(reading, SENSOR_POWER, code, milliwatts / 1e3, 1);
    milliwatts = 0;
    code = NVML_CALL(reading->api, power_limit, reading->gpu->handle, &milliwatts);
    put_sensor(reading, SENSOR_POWER_LIMIT, code, milliwatts / 1e3, 1);
}

static void read_clocks(struct reading *reading)
{
    struct device_sensors *sensors = &reading->gpu->figures.sensors;
    struct nvml_handle *handle = reading->gpu->handle;
    unsigned mhz = 0;
    int code = NVML_CALL(reading->api, clock, handle, NVML_CLOCK_SM, &mhz);
    put_sensor(reading, SENSOR_CLOCK, code, mhz, 1);
    mhz = 0;
    code = NVML_CALL(reading->api, clock_max, handle, NVML_CLOCK_SM, &mhz);
    put_sensor(reading, SENSOR_CLOCK_MAX, code, mhz, 1);
    char words[sizeof sensors->throttle];
    unsigned long long reasons = 0;
    code = NVML_CALL(reading->api, throttle, handle, &reasons);
    bool known = answered(reading, code, &sensors->missing[SENSOR_THROTTLE]);
    nvml_throttle_words(reasons, words, sizeof words);
    if (known != sensors->throttle_known || strcmp(words, sensors->throttle) != 0) {
        snprintf(sensors->throttle, sizeof sensors->throttle, "%s", words);
        sensors->throttle_known = known;
        reading->changed = true;
    }
}

/*
 * Received and sent bytes since some time in the past; false: this driver does not count them, or
 * in 32 bits only, which a fast link fills several times between two readings.
 */
static bool count_pcie(const struct reading *reading, unsigned long long *count)
{
    struct nvml_field fields[2] = {{.id = NVML_FIELD_PCIE_RX_BYTES},
                                   {.id = NVML_FIELD_PCIE_TX_BYTES}};
    if (NVML_CALL(reading->api, fields, reading->gpu->handle, 2, fields) != NVML_SUCCESS)
        return false;
    for (int i = 0; i < 2; i++) {
        if (fields[i].code != NVML_SUCCESS || fields[i].type != NVML_VALUE_UNSIGNED_LONG_LONG)
            return false;
        count[i] = fields[i].value.wide;
    }
    return true;
}

/* The sampler takes 20 ms for each direction, so it is asked only where there are no counters. */
static void sample_pcie(struct reading *reading)
{
    static const int direction[] = {NVML_PCIE_RX, NVML_PCIE_TX};
    for (int i = 0; i < 2; i++) {
        unsigned kilobytes = 0;
        int code = NVML_CALL(reading->api, pcie, reading->gpu->handle, direction[i], &kilobytes);
        put_sensor(reading, i ? SENSOR_PCIE_TX : SENSOR_PCIE_RX, code, kilobytes * 1e3, PCIE_STEP);
    }
}

static void read_pcie(struct reading *reading, double now)
{
    struct nvml_gpu *gpu = reading->gpu;
    unsigned long long count[2];
    if (!count_pcie(reading, count)) {
        gpu->counted_at = 0;
        sample_pcie(reading);
        return;
    }
    double seconds = gpu->counted_at > 0 ? now - gpu->counted_at : 0;
    for (int i = 0; i < 2; i++) {
        bool known = seconds > 0 && count[i] >= gpu->pcie[i]; /* it may begin again */
        double rate = known ? (double)(count[i] - gpu->pcie[i]) / seconds : NAN;
        put_sensor(reading, i ? SENSOR_PCIE_TX : SENSOR_PCIE_RX,
                   known ? NVML_SUCCESS : NVML_NO_DATA, rate, PCIE_STEP);
        gpu->pcie[i] = count[i];
    }
    gpu->counted_at = now;
}

static void put_load(struct reading *reading, double *load, struct sensor_reason *reason, int code,
                     double percent)
{
    bool known = answered(reading, code, reason) && percent >= 0;
    double value = percent > 100 ? 1 : percent / 100;
    reading->changed |= sensor_show(load, known ? value : NAN, LOAD_STEP);
}

/* What happened between this reading and the one before. */
static int compare_gpm(const struct reading *reading, struct nvml_gpm_metrics *metrics)
{
    struct nvml_gpu *gpu = reading->gpu;
    if (!gpu->newer)
        return NVML_NOT_SUPPORTED;
    int code = gpu->mig
                   ? NVML_CALL(reading->api, gpm_mig_get, gpu->handle, gpu->instance, gpu->newer)
                   : NVML_CALL(reading->api, gpm_get, gpu->handle, gpu->newer);
    if (code == NVML_SUCCESS && gpu->compared) {
        metrics->older = gpu->older;
        metrics->newer = gpu->newer;
        code = NVML_CALL(reading->api, gpm_metrics, metrics);
    } else if (code == NVML_SUCCESS) {
        code = NVML_NO_DATA;
    }
    gpu->compared = code == NVML_SUCCESS || code == NVML_NO_DATA;
    struct nvml_gpm_sample *spare = gpu->older;
    gpu->older = gpu->newer;
    gpu->newer = spare;
    return code;
}

static void read_load(struct reading *reading)
{
    struct nvml_gpu *gpu = reading->gpu;
    struct gpu_figures *figures = &gpu->figures;
    struct nvml_gpm_metrics metrics = {.version = 1,
                                       .count = 3,
                                       .metric = {{.id = NVML_GPM_SM_UTIL},
                                                  {.id = NVML_GPM_ANY_TENSOR},
                                                  {.id = NVML_GPM_DRAM_BW}}};
    int code = compare_gpm(reading, &metrics), of[3];
    for (int i = 0; i < 3; i++)
        of[i] = code == NVML_SUCCESS ? metrics.metric[i].code : code;
    put_load(reading, &figures->tensor_load, &figures->no_tensor_load, of[1],
             metrics.metric[1].value);
    put_load(reading, &figures->memory_load, &figures->no_memory_load, of[2],
             metrics.metric[2].value);
    if (of[0] != NVML_SUCCESS) {
        struct nvml_utilization use = {0, 0};
        of[0] = NVML_CALL(reading->api, utilization, gpu->mig ? gpu->mig : gpu->handle, &use);
        metrics.metric[0].value = use.gpu;
    }
    put_load(reading, &figures->load, &figures->no_load, of[0], metrics.metric[0].value);
}

static void read_memory(struct reading *reading)
{
    struct gpu_figures *figures = &reading->gpu->figures;
    struct nvml_handle *handle = reading->gpu->mig ? reading->gpu->mig : reading->gpu->handle;
    struct nvml_memory_v2 memory = {.version = NVML_VERSION_OF(memory, 2)};
    int code = NVML_CALL(reading->api, memory_v2, handle, &memory);
    if (code != NVML_SUCCESS && reading->api->memory) {
        struct nvml_memory old = {0, 0, 0};
        code = reading->api->memory(handle, &old);
        memory.total = old.total;
        memory.free = old.free;
    }
    /* What the driver keeps for itself is not free either. */
    bool known = answered(reading, code, &figures->no_memory) && memory.free <= memory.total;
    uint64_t used = known ? memory.total - memory.free : 0;
    uint64_t total = known ? memory.total : figures->memory_total;
    uint64_t moved =
        used > figures->memory_used ? used - figures->memory_used : figures->memory_used - used;
    if (moved < MEMORY_STEP && total == figures->memory_total)
        return;
    figures->memory_used = used;
    figures->memory_total = total;
    reading->changed = true;
}

static void read_processes(struct reading *reading)
{
    struct nvml_gpu *gpu = reading->gpu;
    struct gpu_figures before = gpu->figures;
    int code = nvml_processes_read(reading->api, gpu);
    answered(reading, code, &gpu->figures.no_processes);
    reading->changed |= before.processes != gpu->figures.processes ||
                        memcmp(before.process, gpu->figures.process, sizeof before.process) != 0;
}

/* Rates begin again: nobody looked for a while. */
static void forget_gpu(struct nvml_gpu *gpu, const char *reason)
{
    gpu_figures_drop(&gpu->figures, reason);
    gpu->counted_at = 0;
    gpu->compared = false;
}

bool nvml_gpu_read(const struct nvml_api *api, struct nvml_gpu *gpu, double now, bool processes,
                   bool *restart)
{
    struct reading reading = {.api = api, .gpu = gpu, .broken = gpu->broken};
    struct gpu_figures *figures = &gpu->figures;
    if (!reading.broken) {
        read_memory(&reading);
        read_temperature(&reading);
        read_power(&reading);
        read_clocks(&reading);
        read_pcie(&reading, now);
        read_load(&reading);
        if (processes)
            read_processes(&reading);
    }
    bool working = reading.broken == 0;
    if (working != figures->working) {
        figures->working = working;
        reading.changed = true;
    }
    say(&reading, &figures->broken, working ? "" : nvml_words(reading.broken));
    if (!working)
        forget_gpu(gpu, figures->broken.text);
    *restart |= reading.restart;
    return reading.changed;
}

static void begin_gpm(const struct nvml_api *api, struct nvml_gpu *gpu)
{
    struct nvml_gpm_support support = {.version = 1};
    if (NVML_CALL(api, gpm_support, gpu->handle, &support) != NVML_SUCCESS || !support.supported)
        return;
    if (gpu->mig && NVML_CALL(api, gpu_instance, gpu->mig, &gpu->instance) != NVML_SUCCESS)
        return;
    if (NVML_CALL(api, gpm_alloc, &gpu->older) != NVML_SUCCESS)
        gpu->older = NULL;
    else if (NVML_CALL(api, gpm_alloc, &gpu->newer) != NVML_SUCCESS)
        gpu->newer = NULL;
    if (!gpu->newer)
        nvml_gpu_end(api, gpu);
}

void nvml_gpu_begin(const struct nvml_api *api, struct nvml_gpu *gpu)
{
    struct gpu_figures *figures = &gpu->figures;
    struct nvml_handle *handle = gpu->mig ? gpu->mig : gpu->handle;
    struct nvml_attributes attributes = {.multiprocessors = 0};
    forget_gpu(gpu, "not read yet");
    snprintf(figures->uuid, sizeof figures->uuid, "%s",
             gpu->mig ? gpu->name.mig_uuid : gpu->name.gpu_uuid);
    figures->working = gpu->broken == 0;
    if (gpu->broken) {
        snprintf(figures->name, sizeof figures->name, "NVIDIA GPU");
        return;
    }
    if (NVML_CALL(api, name, handle, figures->name, sizeof figures->name) != NVML_SUCCESS)
        snprintf(figures->name, sizeof figures->name, "NVIDIA GPU");
    figures->name[sizeof figures->name - 1] = '\0';
    if (NVML_CALL(api, attributes, handle, &attributes) == NVML_SUCCESS)
        figures->cores = (int)attributes.multiprocessors;
    begin_gpm(api, gpu);
}

void nvml_gpu_end(const struct nvml_api *api, struct nvml_gpu *gpu)
{
    if (gpu->older)
        (void)NVML_CALL(api, gpm_free, gpu->older);
    if (gpu->newer)
        (void)NVML_CALL(api, gpm_free, gpu->newer);
    gpu->older = gpu->newer = NULL;
}
