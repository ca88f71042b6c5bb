/* SPDX-License-Identifier: MIT */
#include "engine/train/profile/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void profile_clear(struct profile *profile)
{
    for (int i = 0; i < SPEC_MAX_DEVICES; i++) {
        struct profile_device *device = &profile->devices[i];
        memset(device->part, 0, sizeof device->part);
        device->rows = device->count = 0;
    }
    profile->left_out += profile->steps;
    profile->steps = 0;
    profile->seconds = 0;
}

void profile_free(struct profile *profile)
{
    for (int i = 0; i < SPEC_MAX_DEVICES; i++)
        free(profile->devices[i].list);
}

static bool is_same(const struct plan_time *a, const struct plan_time *b)
{
    return a->direction == b->direction && strcmp(a->layer, b->layer) == 0 &&
           strcmp(a->kind, b->kind) == 0 && strcmp(a->method, b->method) == 0 &&
           (*a->layer || a->place == b->place);
}

struct plan_time *profile_find(const struct profile_device *device, const struct plan_time *like,
                               int hint)
{
    if (hint >= 0 && hint < device->count && is_same(&device->list[hint], like))
        return &device->list[hint];
    for (int i = 0; i < device->count; i++)
        if (is_same(&device->list[i], like))
            return &device->list[i];
    return NULL;
}

/* The entry for an operation; NULL: memory ran out. */
static struct plan_time *find_or_add(struct profile_device *device, const struct plan_time *like,
                                     int hint)
{
    struct plan_time *found = profile_find(device, like, hint);
    if (found)
        return found;
    if (device->count == device->capacity) {
        int capacity = device->capacity ? 2 * device->capacity : 64;
        struct plan_time *list = realloc(device->list, (size_t)capacity * sizeof *list);
        if (!list)
            return NULL;
        device->list = list;
        device->capacity = capacity;
    }
    found = &device->list[device->count++];
    *found = *like;
    found->calls = 0;
    found->seconds = found->flops = found->bytes = 0;
    return found;
}

static bool take(struct profile_device *device, const struct plan_time *time, int hint,
                 struct error *err)
{
    static const enum profile_part parts[] = {[PLAN_OPERATION] = PROFILE_OPERATIONS,
                                              [PLAN_INPUT] = PROFILE_INPUT,
                                              [PLAN_LOSS] = PROFILE_LOSS,
                                              [PLAN_HANDOVER] = PROFILE_SYNC};
    device->part[parts[time->part]] += time->seconds;
    if (time->part != PLAN_OPERATION)
        return true;
    struct plan_time *entry = find_or_add(device, time, hint);
    if (!entry)
        return error_memory(err, "the profile");
    entry->calls += time->calls;
    entry->seconds += time->seconds;
    entry->flops += (double)time->calls * time->flops;
    entry->bytes += (double)time->calls * time->bytes;
    return true;
}

bool profile_take(struct profile_device *device, struct plan_time *times, int count,
                  struct error *err)
{
    for (int i = 0; i < count; i++) {
        if (times[i].calls > 0 && !take(device, &times[i], i - 1, err))
            return false;
        times[i].calls = 0;
        times[i].seconds = 0;
    }
    return true;
}

void profile_step(struct profile *profile, const struct profile_moments *moments,
                  const struct step_part *parts, int count)
{
    double last = 0;
    for (int i = 0; i < count; i++)
        last = fmax(last, parts[i].times.end);
    for (int i = 0; i < count; i++) {
        const struct step_times *times = &parts[i].times;
        struct profile_device *device = &profile->devices[i];
        device->rows += parts[i].rows;
        if (device->passes_only)
            device->part[PROFILE_OPERATIONS] +=
                times->pass_s + times->sync_bn_s + times->wait_s - times->barrier_s;
        device->part[PROFILE_OPTIMIZER] += times->update_s;
        device->part[PROFILE_SYNC] += times->reduce_s;
        device->part[PROFILE_WAIT] += times->barrier_s + last - times->end;
        device->part[PROFILE_SPLIT] += times->begin - moments->begin + moments->joined - last;
        device->part[PROFILE_METRICS] += moments->end - moments->joined;
    }
    profile->seconds += moments->end - moments->begin;
    profile->steps++;
}
