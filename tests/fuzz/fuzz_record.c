/* SPDX-License-Identifier: MIT */
/*
 * A run that an earlier engine kept: an object {"object", "events", "points"} of the JSON texts
 * that the store holds, brought back into the queue and shown again.
 */
#include <jansson.h>

#include "engine/server/record/json.h"
#include "engine/server/record/record.h"
#include "engine/server/record/restore.h"
#include "tests/fuzz/fuzz.h"

static void show(const struct record *record)
{
    json_t *(*const forms[])(const struct record *) = {record_json, record_json_full,
                                                       record_points_json};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        json_decref(forms[i](record));
    FUZZ_CHECK(record_status_name(record));
    FUZZ_CHECK(record_bytes(record) < (size_t)1 << 28);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *kept = json_loadb((const char *)data, size, 0, NULL);
    size_t index;
    const json_t *event;
    struct record *record = record_restore(json_object_get(kept, "object"));
    if (record) {
        const json_t *events = json_object_get(kept, "events");
        show(record);
        struct record_past past;
        if (record_past_read(&past, events, json_object_get(kept, "points")))
            record_load(record, &past);
        show(record);
        json_array_foreach(events, index, event) record_take_event(record, event);
        show(record);
        record_free(record);
    }
    json_decref(kept);
    return 0;
}
