/* SPDX-License-Identifier: MIT */
#include "engine/train/profile/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

#define EVENT_BYTES  200000
#define ROW_BYTES    260 /* an operation of one device, its names included */
#define DEVICE_BYTES 24  /* of it, each further device */
#define WORK_BYTES   40  /* and its work, where that is given */

static const char *const part_keys[PROFILE_PARTS] = {
    [PROFILE_OPERATIONS] = "operations_s",
    [PROFILE_INPUT] = "input_s",
    [PROFILE_LOSS] = "loss_s",
    [PROFILE_OPTIMIZER] = "optimizer_s",
    [PROFILE_SYNC] = "sync_s",
    [PROFILE_WAIT] = "wait_s",
    [PROFILE_SPLIT] = "split_s",
    [PROFILE_METRICS] = "metrics_s",
    [PROFILE_REST] = "rest_s",
};

static const char *const directions[] = {
    [PLAN_FORWARD] = "forward",
    [PLAN_STATISTICS] = "statistics",
    [PLAN_BACKWARD] = "backward",
    [PLAN_BACKWARD_DATA] = "data gradient",
    [PLAN_BACKWARD_WEIGHTS] = "weight gradient",
    [PLAN_BACKWARD_RELU] = "relu gradient",
    [PLAN_GRADIENT_SUM] = "gradient sum",
    [PLAN_FORWARD_AGAIN] = "forward again",
    [PLAN_FOLD] = "folding",
};

/* One operation on all devices. */
struct row {
    const struct plan_time *what; /* as the first device has it */
    int index;                    /* there: the hint for profile_find, in whatever order rows are */
    double seconds;               /* on all of them */
};

static bool is_known(const struct profile *profile, int device, const struct plan_time *like,
                     int hint)
{
    for (int i = 0; i < device; i++)
        if (profile_find(&profile->devices[i], like, hint))
            return true;
    return false;
}

static int by_seconds(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    return (a->seconds < b->seconds) - (a->seconds > b->seconds);
}

/* In the order of the network, an operation's directions together. */
static int by_place(const void *left, const void *right)
{
    const struct plan_time *a = ((const struct row *)left)->what;
    const struct plan_time *b = ((const struct row *)right)->what;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    if (a->direction != b->direction)
        return a->direction < b->direction ? -1 : 1;
    return strcmp(a->method, b->method);
}

/* Fill `rows`, which has room for all operations of all devices; returns how many there are. */
static int collect(const struct profile *profile, int devices, struct row *rows)
{
    int count = 0;
    for (int i = 0; i < devices; i++) {
        const struct profile_device *device = &profile->devices[i];
        for (int j = 0; j < device->count; j++) {
            const struct plan_time *what = &device->list[j];
            if (is_known(profile, i, what, j))
                continue;
            rows[count] = (struct row){.what = what, .index = j};
            for (int k = i; k < devices; k++) {
                const struct plan_time *time = profile_find(&profile->devices[k], what, j);
                rows[count].seconds += time ? time->seconds : 0;
            }
            count++;
        }
    }
    return count;
}

/* An array or object, or NULL when a part of it could not be made. */
static json_t *whole(json_t *json, bool complete)
{
    if (complete)
        return json;
    json_decref(json);
    return NULL;
}

/* Some rows on one device. */
struct sums {
    long calls;
    double seconds, flops, bytes;
};

static struct sums sums_of(const struct profile_device *device, const struct row *rows, int first,
                           int end)
{
    struct sums sums = {0};
    for (int i = first; i < end; i++) {
        const struct plan_time *time = profile_find(device, rows[i].what, rows[i].index);
        if (!time)
            continue;
        sums.calls += time->calls;
        sums.seconds += time->seconds;
        sums.flops += time->flops;
        sums.bytes += time->bytes;
    }
    return sums;
}

/* Whether each device that has these rows did as much of them as it has rows of the batches. Not so
 * where one took another method for some of its passes. */
static bool by_rows(const struct profile *profile, int devices, const struct row *rows, int first,
                    int end)
{
    double flops = -1, bytes = -1;
    for (int i = 0; i < devices; i++) {
        const struct profile_device *device = &profile->devices[i];
        const struct sums sums = sums_of(device, rows, first, end);
        if (sums.calls == 0 || device->rows == 0)
            continue;
        const double row_flops = sums.flops / (double)device->rows;
        const double row_bytes = sums.bytes / (double)device->rows;
        if (flops >= 0 &&
            (fabs(row_flops - flops) > 1e-6 * flops || fabs(row_bytes - bytes) > 1e-6 * bytes))
            return false;
        flops = row_flops;
        bytes = row_bytes;
    }
    return true;
}

static bool add_list(json_t *object, const char *key, json_t *list, bool complete)
{
    list = whole(list, complete);
    return list && json_object_set_new(object, key, list) == 0;
}

/* What each device did. */
static bool add_work(json_t *object, const struct profile *profile, int devices,
                     const struct row *rows, int first, int end)
{
    json_t *flops = json_array(), *bytes = json_array();
    bool ok = true;
    for (int i = 0; i < devices; i++) {
        const struct sums sums = sums_of(&profile->devices[i], rows, first, end);
        ok &= json_array_append_new(flops, json_real(sums.flops)) == 0;
        ok &= json_array_append_new(bytes, json_real(sums.bytes)) == 0;
    }
    ok &= add_list(object, "device_flops", flops, ok);
    return add_list(object, "device_bytes", bytes, ok) && ok;
}

/* What the rows [first, end) are on each device: one operation, or the sum of several. */
static json_t *operation_json(const struct profile *profile, int devices, const struct row *rows,
                              int first, int end)
{
    const struct plan_time *what = end - first == 1 ? rows[first].what : NULL;
    json_t *calls = json_array(), *seconds = json_array();
    double flops = 0, bytes = 0;
    bool ok = true;
    for (int i = 0; i < devices; i++) {
        const struct sums sums = sums_of(&profile->devices[i], rows, first, end);
        flops += sums.flops;
        bytes += sums.bytes;
        ok &= json_array_append_new(calls, json_integer(sums.calls)) == 0;
        ok &= json_array_append_new(seconds, json_real(sums.seconds)) == 0;
    }
    calls = whole(calls, ok);
    seconds = whole(seconds, ok);
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:f, s:f}", "layer", what ? what->layer : "",
                  "kind", what ? what->kind : "others", "direction",
                  what ? directions[what->direction] : "", "method", what ? what->method : "",
                  "calls", calls, "seconds", seconds, "flops", flops, "bytes", bytes);
    if (!object || by_rows(profile, devices, rows, first, end))
        return object;
    return whole(object, add_work(object, profile, devices, rows, first, end));
}

/* How many rows the event has room for. */
static int most_rows(const struct profile *profile, int devices, const struct row *rows, int count)
{
    int each = DEVICE_BYTES;
    for (int i = 0; i < count && each == DEVICE_BYTES; i++)
        if (!by_rows(profile, devices, rows, i, i + 1))
            each += WORK_BYTES;
    return EVENT_BYTES / (ROW_BYTES + each * devices);
}

static json_t *operations_json(const struct profile *profile, int devices)
{
    int room = 1;
    json_t *list = json_array();
    bool ok = true;
    for (int i = 0; i < devices; i++)
        room += profile->devices[i].count;
    struct row *rows = calloc((size_t)room, sizeof *rows);
    if (!rows || !list) {
        free(rows);
        json_decref(list);
        return NULL;
    }
    const int count = collect(profile, devices, rows);
    const int most = most_rows(profile, devices, rows, count), shown = count > most ? most : count;
    if (count > most)
        qsort(rows, (size_t)count, sizeof *rows, by_seconds);
    qsort(rows, (size_t)shown, sizeof *rows, by_place);
    for (int i = 0; i < shown; i++)
        ok &= json_array_append_new(list, operation_json(profile, devices, rows, i, i + 1)) == 0;
    if (count > shown)
        ok &=
            json_array_append_new(list, operation_json(profile, devices, rows, shown, count)) == 0;
    free(rows);
    return whole(list, ok);
}

static json_t *limit_json(double limit)
{
    return limit > 0 ? json_real(limit) : json_null();
}

static json_t *device_json(const struct profile *profile, int index, const char *name)
{
    const struct profile_device *device = &profile->devices[index];
    double rest = profile->seconds;
    json_t *object = json_pack("{s:s, s:I, s:b}", "device", name, "rows", (json_int_t)device->rows,
                               "passes_only", device->passes_only);
    bool ok = true;
    for (int part = 0; part < PROFILE_REST; part++) {
        rest -= device->part[part];
        ok &= json_object_set_new(object, part_keys[part], json_real(device->part[part])) == 0;
    }
    ok &= json_object_set_new(object, part_keys[PROFILE_REST], json_real(fmax(rest, 0))) == 0;
    ok &= json_object_set_new(object, "flops_limit", limit_json(device->flops_limit)) == 0;
    ok &= json_object_set_new(object, "bytes_limit", limit_json(device->bytes_limit)) == 0;
    return whole(object, ok);
}

json_t *profile_json(const struct profile *profile, const char *const *names, int count)
{
    json_t *devices = json_array();
    bool ok = true;
    for (int i = 0; i < count; i++)
        ok &= json_array_append_new(devices, device_json(profile, i, names[i])) == 0;
    devices = whole(devices, ok);
    return json_pack("{s:s, s:I, s:I, s:f, s:I, s:f, s:o, s:o}", "event", "profile", "steps",
                     (json_int_t)profile->steps, "left_out", (json_int_t)profile->left_out,
                     "seconds", profile->seconds, "unprofiled_steps",
                     (json_int_t)profile->unprofiled_steps, "unprofiled_s", profile->unprofiled_s,
                     "devices", devices, "operations", operations_json(profile, count));
}

json_t *noise_json(const struct metrics *metrics)
{
    return metrics->epoch.noises > 0 ? json_finite(noise_rows(&metrics->noise)) : NULL;
}
