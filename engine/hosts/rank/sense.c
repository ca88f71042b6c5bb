/* SPDX-License-Identifier: MIT */
#include "engine/hosts/rank/sense.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "engine/backends/registry.h"
#include "engine/device/device.h"
#include "engine/nvml/nvml.h"
#include "engine/telemetry/telemetry.h"
#include "system/affinity.h"

/* Between two looks at what the threads have read: steps may be many in a second. */
static const double LOOK_S = 0.5;

struct sense {
    struct telemetry *telemetry;
    struct nvml *nvml;
    int *cpus, cpu_count;
    double looked; /* on clock_seconds */
    struct device_load cpu;
    struct gpu_list gpus;
    int gpu_count; /* as CUDA numbers them */
    struct device_info gpu[SPEC_MAX_DEVICES];
};

/* The driver's names of the GPUs; none where it does not say. */
static void name_gpus(struct sense *sense)
{
    struct error ignored = ERROR_INIT;
    char text[160];
    const char *why = "";
    const struct backend *backend = backend_find(DEVICE_CUDA, &why);
    if (backend && !backend->enumerate(sense->gpu, SPEC_MAX_DEVICES, &sense->gpu_count, text,
                                       sizeof text, &ignored))
        sense->gpu_count = 0;
}

bool sense_open(struct sense **out, struct error *err)
{
    struct nvml_options options = nvml_environment();
    struct sense *sense = calloc(1, sizeof *sense);
    if (!sense)
        return error_memory(err, "sensors");
    options.no_processes = true; /* a rank looks at nothing but load and memory */
    *out = sense;
    name_gpus(sense);
    return affinity_cpus(&sense->cpus, &sense->cpu_count, err) &&
           telemetry_start(&sense->telemetry, "/", sense->cpus, sense->cpu_count, err) &&
           nvml_start(&sense->nvml, &options, err);
}

static void look(struct sense *sense)
{
    struct telemetry_sample sample;
    if (sense->looked > 0 && clock_seconds() - sense->looked < LOOK_S)
        return;
    sense->looked = clock_seconds();
    telemetry_read(sense->telemetry, &sample);
    sense->cpu = (struct device_load){
        .load = telemetry_load(&sample, sense->cpus, sense->cpu_count),
        .memory_used = sample.memory_used,
        .memory_total = sample.memory_total,
    };
    nvml_read(sense->nvml, &sense->gpus);
}

void sense_device(void *context, struct device_id id, struct device_load *load)
{
    struct sense *sense = context;
    look(sense);
    *load = sense->cpu;
    if (id.kind == DEVICE_CPU)
        return;
    *load = (struct device_load){.load = NAN};
    for (int i = 0; i < sense->gpu_count; i++) {
        const struct gpu_figures *gpu = gpu_list_find(&sense->gpus, sense->gpu[i].uuid);
        if (sense->gpu[i].id.index == id.index && gpu)
            *load = (struct device_load){gpu->load, gpu->memory_used, gpu->memory_total};
    }
}
