/* SPDX-License-Identifier: MIT */
#include "engine/server/tasks/devices.h"

#include <stdlib.h>

#include "base/clock.h"
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
    free(gpus);
    if (!ok)
        return false;
    json_t *list = json_array();
    for (int i = 0; i < table.count; i++)
        json_array_append_new(list, device_info_json(&table.info[i]));
    *result = list;
    return true;
}
