/* SPDX-License-Identifier: MIT */
#include "engine/server/tasks/devices.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "engine/nvml/nvml.h"
#include "engine/server/devices/table.h"

/* Seconds that a request for the devices waits: for the driver's telemetry, and for the driver's
 * start, which initialises every GPU where nothing keeps it loaded (nvidia-persistenced). */
#define DRIVER_PATIENCE 4
#define START_PATIENCE  30

/* Until both have answered; a driver that was not in use before may take its time. */
static void wait_for_gpus(struct task *task)
{
    double begin = clock_seconds();
    gpu_survey_ask(task->survey);
    while (clock_seconds() - begin < DRIVER_PATIENCE && !atomic_load(&task->cancelled))
        if (nvml_wait(task->nvml, 0.1))
            break;
    while (clock_seconds() - begin < START_PATIENCE && !atomic_load(&task->cancelled))
        if (gpu_survey_wait(task->survey, 0.1))
            break;
}

/* With what the driver reports of a GPU now. */
static json_t *device_json(const struct device_info *info, const struct gpu_list *gpus)
{
    json_t *object = device_info_json(info);
    const struct gpu_figures *gpu = gpu_list_find(gpus, info->uuid);
    if (gpu && object) {
        const json_int_t used = (json_int_t)gpu->memory_used;
        json_object_set_new(object, "load", json_finite(gpu->load));
        json_object_set_new(object, "memory_used", used ? json_integer(used) : json_null());
        json_object_set_new(object, "processes", gpu_processes_json(gpu));
        json_object_set_new(object, "process_count", json_integer(gpu->processes));
    }
    return object;
}

bool task_devices(struct task *task, const json_t *params, json_t **result, struct error *err)
{
    (void)params;
    struct device_table table;
    struct gpu_findings findings;
    struct gpu_list *gpus = malloc(sizeof *gpus);
    if (!gpus)
        return error_memory(err, "devices");
    wait_for_gpus(task);
    nvml_read(task->nvml, gpus);
    gpu_survey_read(task->survey, &findings);
    bool ok = device_table_fill(&table, err);
    if (ok)
        device_table_add_gpus(&table, &findings, gpus);
    *result = ok ? json_array() : NULL;
    for (int i = 0; ok && i < table.count; i++)
        json_array_append_new(*result, device_json(&table.info[i], gpus));
    free(gpus);
    return ok;
}
