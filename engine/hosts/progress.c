/* SPDX-License-Identifier: MIT */
#include "engine/hosts/progress.h"

#include <stddef.h>

#include "base/json.h"
#include "engine/train/step/activity.h"

/* The numbers of a progress, and of one of its devices. */
struct number {
    const char *key;
    size_t offset;
    enum { WHOLE, REAL, BYTES } kind;
};

#define OF_RUN(kind, member)                                                                       \
    {                                                                                              \
#member, offsetof(struct run_progress, member), kind                                       \
    }
#define OF_DEVICE(kind, member)                                                                    \
    {                                                                                              \
#member, offsetof(struct run_device, member), kind                                         \
    }

static const struct number of_run[] = {
    OF_RUN(WHOLE, epoch),        OF_RUN(WHOLE, epochs),     OF_RUN(WHOLE, step),
    OF_RUN(WHOLE, total_steps),  OF_RUN(WHOLE, epoch_step), OF_RUN(WHOLE, steps_per_epoch),
    OF_RUN(WHOLE, read),         OF_RUN(WHOLE, to_read),    OF_RUN(REAL, lr),
    OF_RUN(REAL, run_lr),        OF_RUN(REAL, train_loss),  OF_RUN(REAL, train_acc),
    OF_RUN(REAL, samples_per_s), OF_RUN(REAL, elapsed_s),   OF_RUN(REAL, eta_s),
    OF_RUN(WHOLE, evaluated),    OF_RUN(WHOLE, test_rows),
};

static const struct number of_device[] = {
    OF_DEVICE(WHOLE, rows),
    OF_DEVICE(REAL, samples_per_s),
    OF_DEVICE(REAL, compute_s),
    OF_DEVICE(REAL, load.load),
    OF_DEVICE(BYTES, load.memory_used),
    OF_DEVICE(BYTES, load.memory_total),
    OF_DEVICE(REAL, sync_s),
    OF_DEVICE(REAL, wait_s),
    OF_DEVICE(BYTES, memory_bytes),
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static json_t *read_number(const void *object, const struct number *number)
{
    const char *at = (const char *)object + number->offset;
    switch (number->kind) {
    case WHOLE:
        return json_integer(*(const long *)at);
    case REAL:
        return json_finite(*(const double *)at);
    case BYTES:
        break;
    }
    return json_integer((json_int_t) * (const uint64_t *)at);
}

static void write_number(void *object, const struct number *number, const json_t *from)
{
    char *at = (char *)object + number->offset;
    switch (number->kind) {
    case WHOLE:
        *(long *)at = (long)member_integer(from, number->key);
        break;
    case REAL:
        *(double *)at = member_number(from, number->key);
        break;
    case BYTES:
        *(uint64_t *)at = (uint64_t)member_integer(from, number->key);
        break;
    }
}

static json_t *to_json(const void *object, const struct number *numbers, size_t count)
{
    json_t *json = json_object();
    for (size_t i = 0; json && i < count; i++)
        json = json_kept_if(
            json_object_set_new(json, numbers[i].key, read_number(object, &numbers[i])) == 0, json);
    return json;
}

static json_t *device_to_json(const struct run_device *device)
{
    json_t *json = to_json(device, of_device, COUNT(of_device));
    return json ? json_kept_if(json_object_set_new(json, "state", json_string(device->state)) == 0,
                               json)
                : NULL;
}

json_t *progress_to_json(const struct run_progress *progress)
{
    json_t *json = to_json(progress, of_run, COUNT(of_run)), *devices = json_array();
    bool ok =
        json && devices && json_object_set_new(json, "phase", json_integer(progress->phase)) == 0;
    for (int i = 0; ok && i < progress->device_count; i++)
        ok = json_array_append_new(devices, device_to_json(&progress->devices[i])) == 0;
    ok = ok && json_object_set(json, "devices", devices) == 0;
    json_decref(devices);
    return json_kept_if(ok, json);
}

bool progress_from_json(const json_t *object, const struct device_list *list,
                        struct run_device *devices, struct run_progress *progress)
{
    const json_t *array = json_object_get(object, "devices");
    const json_int_t phase = member_integer(object, "phase");
    if (phase < PHASE_PREPARE || phase > PHASE_ENDED ||
        json_array_size(array) != (size_t)list->count)
        return false;
    *progress = (struct run_progress){
        .phase = (enum run_phase)phase, .device_count = list->count, .devices = devices};
    for (size_t i = 0; i < COUNT(of_run); i++)
        write_number(progress, &of_run[i], object);
    for (int i = 0; i < list->count; i++) {
        const json_t *device = json_array_get(array, (size_t)i);
        devices[i] = (struct run_device){.id = list->id[i]};
        for (size_t j = 0; j < COUNT(of_device); j++)
            write_number(&devices[i], &of_device[j], device);
        devices[i].state = activity_name(activity_find(member_string(device, "state")));
    }
    return true;
}
