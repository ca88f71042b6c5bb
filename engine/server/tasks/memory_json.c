/* SPDX-License-Identifier: MIT */
#include "engine/server/tasks/memory_json.h"

#include "engine/train/split/shares.h"

static json_t *pass_json(const struct memory_share *share, enum memory_pass pass)
{
    const struct plan_memory *memory = &share->memory[pass];
    if (!share->has[pass])
        return json_null();
    return json_pack("{s:I, s:I, s:I, s:I}", "rows", (json_int_t)share->rows[pass], "activations",
                     (json_int_t)(memory->activations + share->gathered +
                                  (size_t)share->slots * (memory->kept + share->handed)),
                     "scratch", (json_int_t)memory->scratch, "input", (json_int_t)memory->input);
}

static json_t *share_json(struct device_id id, int thread_count, const struct memory_share *share)
{
    char name[DEVICE_NAME];
    json_t *threads = id.kind == DEVICE_CPU ? json_integer(thread_count) : json_null();
    return json_pack("{s:s, s:o, s:I, s:o, s:o, s:o, s:I}", "device", device_id_text(id, name),
                     "threads", threads, "parameters", (json_int_t)share->params, "full",
                     pass_json(share, MEMORY_FULL), "last", pass_json(share, MEMORY_LAST), "eval",
                     pass_json(share, MEMORY_EVAL), "total", (json_int_t)share->total);
}

json_t *memory_json(const struct spec *spec, const struct memory_share *shares)
{
    int threads[SPEC_MAX_DEVICES];
    json_t *list = json_array();
    share_threads(spec, threads);
    for (int i = 0; i < spec->devices.count; i++)
        json_array_append_new(list, share_json(spec->devices.id[i], threads[i], &shares[i]));
    return list;
}
