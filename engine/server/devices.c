/* SPDX-License-Identifier: MIT */
#include "engine/server/devices.h"

#include "base/json.h"
#include "engine/server/task.h"

bool device_table_fill(struct device_table *table, struct error *err)
{
    static const enum device_kind kinds[] = {DEVICE_CUDA, DEVICE_CPU};
    table->count = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *why;
        char reason[160];
        int count = 0;
        const struct backend *backend = backend_find(kinds[i], &why);
        if (backend &&
            !backend->enumerate(table->info + table->count, SPEC_MAX_DEVICES - table->count, &count,
                                reason, sizeof reason, err))
            return false;
        table->count += count;
    }
    return true;
}

json_t *device_info_json(const struct device_info *info)
{
    char id[16];
    json_t *reason = info->available ? json_null() : json_any_text(info->reason);
    json_t *memory =
        info->memory_bytes ? json_integer((json_int_t)info->memory_bytes) : json_null();
    return json_pack("{s:s, s:o, s:i, s:o, s:b, s:o}", "device", device_id_text(info->id, id),
                     "name", json_any_text(info->name), "cores", info->cores, "memory_total",
                     memory, "available", info->available, "reason", reason);
}

bool task_devices(struct task *task, const json_t *params, json_t **result, struct error *err)
{
    (void)task;
    (void)params;
    struct device_table table;
    if (!device_table_fill(&table, err))
        return false;
    json_t *list = json_array();
    for (int i = 0; i < table.count; i++)
        json_array_append_new(list, device_info_json(&table.info[i]));
    *result = list;
    return true;
}
