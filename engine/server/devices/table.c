/* SPDX-License-Identifier: MIT */
#include "engine/server/devices/table.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "engine/backends/registry.h"

bool device_table_fill(struct device_table *table, struct error *err)
{
    const char *why = "";
    char reason[160];
    const struct backend *backend = backend_find(DEVICE_CPU, &why);
    table->count = 0;
    return !backend || backend->enumerate(table->info, SPEC_MAX_DEVICES, &table->count, reason,
                                          sizeof reason, err);
}

/* A GPU of the backend that the driver gave up. */
static void heed_driver(struct device_info *info, const struct gpu_list *gpus)
{
    const struct gpu_figures *gpu = gpu_list_find(gpus, info->uuid);
    if (!gpu || gpu->working || !info->available)
        return;
    info->available = false;
    snprintf(info->reason, sizeof info->reason, "%s", gpu->broken.text);
}

/* A GPU that cannot be trained on; what keeps all from it comes after what is wrong with it. */
static void describe_gpu(struct device_info *info, const struct gpu_figures *gpu, int index,
                         const char *why)
{
    *info = (struct device_info){
        .id = {DEVICE_CUDA, index}, .cores = gpu->cores, .memory_bytes = gpu->memory_total};
    snprintf(info->name, sizeof info->name, "%s", gpu->name);
    snprintf(info->uuid, sizeof info->uuid, "%s", gpu->uuid);
    snprintf(info->reason, sizeof info->reason, "%s", gpu->working ? why : gpu->broken.text);
}

void device_table_add_gpus(struct device_table *table, const struct gpu_findings *findings,
                           const struct gpu_list *gpus)
{
    bool usable = findings->count > 0;
    int room = SPEC_MAX_DEVICES - table->count;
    int count = usable ? findings->count : gpus->count;
    if (count > room)
        count = room;
    memmove(table->info + count, table->info, (size_t)table->count * sizeof *table->info);
    for (int i = 0; i < count; i++) {
        if (usable) {
            table->info[i] = findings->info[i];
            heed_driver(&table->info[i], gpus);
        } else {
            describe_gpu(&table->info[i], &gpus->gpu[i], i, findings->why);
        }
    }
    table->count += count;
}

json_t *device_info_json(const struct device_info *info)
{
    char id[DEVICE_NAME];
    json_t *reason = info->available ? json_null() : json_any_text(info->reason);
    json_t *memory =
        info->memory_bytes ? json_integer((json_int_t)info->memory_bytes) : json_null();
    json_t *cores = info->cores ? json_integer(info->cores) : json_null();
    json_t *uuid = *info->uuid ? json_any_text(info->uuid) : json_null();
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:b, s:o}", "device", device_id_text(info->id, id),
                     "name", json_any_text(info->name), "uuid", uuid, "cores", cores,
                     "memory_total", memory, "available", info->available, "reason", reason);
}

/* The driver's own words are the more exact ones where it has any. */
json_t *no_gpus_json(const struct gpu_findings *findings, const struct gpu_list *gpus)
{
    const char *why = *gpus->none.text ? gpus->none.text : findings->why;
    return gpus->count == 0 && findings->count == 0 && *why ? json_any_text(why) : json_null();
}

json_t *gpu_processes_json(const struct gpu_figures *gpu)
{
    if (*gpu->no_processes.text)
        return json_null();
    json_t *list = json_array();
    for (int i = 0; i < gpu_processes_listed(gpu); i++) {
        const struct gpu_process *process = &gpu->process[i];
        json_t *memory = process->memory ? json_integer((json_int_t)process->memory) : json_null();
        json_array_append_new(
            list, json_pack("{s:I, s:o, s:o, s:o, s:o, s:b, s:o}", "pid", (json_int_t)process->pid,
                            "user", string_or_null(process->user), "memory", memory, "load",
                            json_finite(process->load), "command", string_or_null(process->command),
                            "own", process->own, "reason", string_or_null(process->why)));
    }
    return list;
}
