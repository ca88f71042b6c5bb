/* SPDX-License-Identifier: MIT */
#include "ui/form/devices.h"

#include <string.h>

#include "spec/gpu_use.h"
#include "spec/origin.h"

/*
 * Which devices the next run uses. The spec holds the choice; what is
 * on offer is what the engine lists, CPU devices up to cpu_top, and whatever the spec names
 * besides.
 */

static struct form_device *find(struct form_device *devices, int count, struct device_id id)
{
    for (int i = 0; i < count; i++)
        if (device_id_same(devices[i].id, id))
            return &devices[i];
    return NULL;
}

static int offer(struct form_device *devices, int count, struct device_id id)
{
    if (count < FORM_MAX_DEVICES && !find(devices, count, id))
        devices[count++] = (struct form_device){.id = id};
    return count;
}

/* The one that is used least of those not chosen yet; NULL: there is no other. */
static struct form_device *least_used(struct form_device *devices, int count)
{
    struct form_device *least = NULL;
    double least_use = 0;
    for (int i = 0; i < count; i++) {
        const struct state_device *known = devices[i].known;
        if (devices[i].chosen || devices[i].id.kind != DEVICE_CUDA || !known || !known->available)
            continue;
        const double use = gpu_use(known->load, known->memory_used, known->memory_total);
        if (!least || use < least_use) {
            least = &devices[i];
            least_use = use;
        }
    }
    return least;
}

/* Choices that name no device: the GPUs there are, their first, or those used least now; the
 * default falls back to the CPU. */
static void choose_unnamed(const struct device_list *list, struct form_device *devices, int count)
{
    int most = list->choice == DEVICES_FIRST_GPUS ? list->count : count;
    int chosen = 0;
    if (list->choice == DEVICES_FREE_GPUS) {
        struct form_device *device;
        while (chosen++ < list->count && (device = least_used(devices, count)))
            device->chosen = true;
        return;
    }
    for (int i = 0; i < count && chosen < most; i++)
        if (devices[i].id.kind == DEVICE_CUDA && devices[i].known && devices[i].known->available) {
            devices[i].chosen = true;
            chosen++;
        }
    for (int i = 0; i < count && chosen == 0 && list->choice == DEVICES_DEFAULT; i++)
        if (device_id_same(devices[i].id, (struct device_id){.kind = DEVICE_CPU})) {
            devices[i].chosen = true;
            chosen++;
        }
}

int form_devices(const struct form *form, const struct state *state, struct form_device *devices)
{
    const struct device_list *list = &form->spec.devices;
    int count = 0;
    for (int i = 0; i < state->device_count; i++) {
        int before = count;
        count = offer(devices, count, state->devices[i].id);
        if (count > before)
            devices[before].known = &state->devices[i];
    }
    int top = form->cpu_top;
    for (int i = 0; list->choice == DEVICES_LISTED && i < list->count; i++)
        if (list->id[i].kind == DEVICE_CPU && list->id[i].index > top &&
            list->id[i].index < SPEC_MAX_DEVICES)
            top = list->id[i].index;
    for (int i = 0; i <= top; i++)
        count = offer(devices, count, (struct device_id){.kind = DEVICE_CPU, .index = i});
    for (int i = 0; list->choice == DEVICES_LISTED && i < list->count; i++) {
        count = offer(devices, count, list->id[i]);
        struct form_device *named = find(devices, count, list->id[i]);
        if (named)
            named->chosen = true;
    }
    if (list->choice != DEVICES_LISTED)
        choose_unnamed(list, devices, count);
    return count;
}

int form_device_count(const struct form *form, const struct state *state)
{
    struct form_device devices[FORM_MAX_DEVICES];
    int chosen = 0;
    /* A device named twice counts twice. */
    if (form->spec.devices.choice == DEVICES_LISTED)
        return form->spec.devices.count;
    for (int i = form_devices(form, state, devices); i-- > 0;)
        chosen += devices[i].chosen;
    return chosen;
}

/* Write the ticks into the spec. */
static bool choose(struct form *form, const struct form_device *devices, int count,
                   struct error *err)
{
    struct device_list list = {.choice = DEVICES_LISTED};
    for (int i = 0; i < count; i++) {
        if (!devices[i].chosen)
            continue;
        if (list.count == SPEC_MAX_DEVICES)
            return error_set(err, ERROR_USAGE, "a run uses at most %d devices", SPEC_MAX_DEVICES);
        list.id[list.count++] = devices[i].id;
    }
    if (list.count == 0)
        return error_set(err, ERROR_USAGE, "a run needs a device: tick another one first");
    form->spec.devices = list;
    spec_give(&form->spec, "devices");
    return true;
}

/*
 * Only a base that is not known (0) is set, so that going from one device to four in three steps
 * is still worked out from the one.
 */
static void remember(struct form *form, const struct state *state)
{
    if (form->base_devices > 0)
        return;
    form->base_devices = form_device_count(form, state);
    form->base_batch = form->spec.batch;
    form->base_lr = form->spec.lr;
}

bool form_toggle(struct form *form, const struct state *state, struct device_id id,
                 struct error *err)
{
    struct form_device devices[FORM_MAX_DEVICES];
    int count = form_devices(form, state, devices);
    struct form_device *device = find(devices, count, id);
    if (!device)
        return true;
    if (!device->chosen && device->known && !device->known->available)
        return error_set(err, ERROR_USAGE, "%s",
                         device->known->reason[0] != '\0' ? device->known->reason
                                                          : "this device is not available");
    remember(form, state);
    device->chosen = !device->chosen;
    return choose(form, devices, count, err);
}

static int highest_cpu(const struct form_device *devices, int count)
{
    int highest = -1;
    for (int i = 0; i < count; i++)
        if (devices[i].id.kind == DEVICE_CPU && devices[i].id.index > highest)
            highest = devices[i].id.index;
    return highest;
}

bool form_add_cpu(struct form *form, const struct state *state, struct error *err)
{
    struct form_device devices[FORM_MAX_DEVICES];
    int count = form_devices(form, state, devices);
    struct device_id id = {.kind = DEVICE_CPU, .index = highest_cpu(devices, count) + 1};
    int before = count;
    if (id.index >= SPEC_MAX_DEVICES)
        return error_set(err, ERROR_USAGE, "a run uses at most %d devices", SPEC_MAX_DEVICES);
    remember(form, state);
    count = offer(devices, count, id);
    if (count == before)
        return error_set(err, ERROR_USAGE, "the list of devices is full");
    devices[before].chosen = true;
    if (!choose(form, devices, count, err))
        return false;
    form->cpu_top = id.index;
    return true;
}

bool form_remove_cpu(struct form *form, const struct state *state, struct error *err)
{
    struct form_device devices[FORM_MAX_DEVICES];
    int count = form_devices(form, state, devices);
    struct device_id id = {.kind = DEVICE_CPU, .index = highest_cpu(devices, count)};
    struct form_device *device = find(devices, count, id);
    if (!device || device->known)
        return error_set(err, ERROR_USAGE, "only CPU devices that were added can be taken away");
    remember(form, state);
    if (device->chosen) {
        device->chosen = false;
        if (!choose(form, devices, count, err))
            return false;
    }
    form->cpu_top = id.index - 1;
    return true;
}
