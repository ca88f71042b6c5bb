/* SPDX-License-Identifier: MIT */
#include "events/profile.h"

#include <math.h>
#include <stdlib.h>

#include "base/json.h"

static double number_at(const json_t *array, size_t index)
{
    double value = json_number_value(json_array_get(array, index));
    return isfinite(value) && value > 0 ? value : 0;
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

double profile_event_steps(const json_t *event)
{
    return member_positive(event, "steps");
}

double profile_event_step_s(const json_t *event)
{
    return ratio(member_positive(event, "seconds"), member_positive(event, "steps"));
}

double profile_event_unprofiled_s(const json_t *event, double *steps)
{
    *steps = member_positive(event, "unprofiled_steps");
    return ratio(member_positive(event, "unprofiled_s"), *steps);
}

size_t profile_event_devices(const json_t *event)
{
    return json_array_size(json_object_get(event, "devices"));
}

static const json_t *device_at(const json_t *event, size_t index)
{
    return json_array_get(json_object_get(event, "devices"), index);
}

/* The devices meant: [*first, *end). */
static void range(const json_t *event, size_t device, size_t *first, size_t *end)
{
    bool all = device == PROFILE_ALL_DEVICES;
    *first = all ? 0 : device;
    *end = all ? profile_event_devices(event) : device + 1;
}

/* 0 unless all the devices meant have the same. */
static double limit(const json_t *event, size_t device, const char *key)
{
    size_t first, end;
    range(event, device, &first, &end);
    const double value = member_positive(device_at(event, first), key);
    for (size_t i = first + 1; i < end; i++)
        if (member_positive(device_at(event, i), key) != value)
            return 0;
    return value;
}

bool profile_event_limits(const json_t *event, size_t device, double *flops, double *bytes)
{
    *flops = limit(event, device, "flops_limit");
    *bytes = limit(event, device, "bytes_limit");
    return *flops > 0 || *bytes > 0;
}

/* Seconds over all steps become those of one, and their share. */
static void finish(struct profile_row *row, const json_t *event, size_t device)
{
    size_t first, end;
    range(event, device, &first, &end);
    row->flops = ratio(row->flops, row->seconds);
    row->bytes = ratio(row->bytes, row->seconds);
    row->share = ratio(row->seconds, member_positive(event, "seconds") * (double)(end - first));
    row->seconds = ratio(row->seconds, member_positive(event, "steps"));
    profile_event_limits(event, device, &row->flops_limit, &row->bytes_limit);
}

/* Mostly the event has the work of all devices together; each has its part by its rows. */
static struct profile_row read_row(const json_t *event, const json_t *operation, size_t device)
{
    const json_t *seconds = json_object_get(operation, "seconds");
    const json_t *calls = json_object_get(operation, "calls");
    struct profile_row row = {.layer = member_string(operation, "layer"),
                              .kind = member_string(operation, "kind"),
                              .direction = member_string(operation, "direction"),
                              .method = member_string(operation, "method")};
    const json_t *flops = json_object_get(operation, "device_flops");
    const json_t *bytes = json_object_get(operation, "device_bytes");
    double rows = 0, all_rows = 0;
    size_t first, end;
    range(event, device, &first, &end);
    for (size_t i = 0; i < profile_event_devices(event); i++) {
        double device_rows =
            number_at(calls, i) > 0 ? member_positive(device_at(event, i), "rows") : 0;
        all_rows += device_rows;
        if (i < first || i >= end)
            continue;
        rows += device_rows;
        row.calls += number_at(calls, i);
        row.seconds += number_at(seconds, i);
        row.flops += number_at(flops, i);
        row.bytes += number_at(bytes, i);
    }
    if (!flops)
        row.flops = member_positive(operation, "flops") * ratio(rows, all_rows);
    if (!bytes)
        row.bytes = member_positive(operation, "bytes") * ratio(rows, all_rows);
    finish(&row, event, device);
    return row;
}

static int by_time(const void *left, const void *right)
{
    const struct profile_row *a = left, *b = right;
    return (a->seconds < b->seconds) - (a->seconds > b->seconds);
}

struct profile_row *profile_event_rows(const json_t *event, size_t device, enum profile_order order,
                                       size_t *count)
{
    const json_t *operations = json_object_get(event, "operations");
    size_t all = json_array_size(operations);
    struct profile_row *rows = calloc(all + 1, sizeof *rows);
    *count = 0;
    for (size_t i = 0; rows && i < all; i++) {
        rows[*count] = read_row(event, json_array_get(operations, i), device);
        /* What another device does by another method. */
        *count += rows[*count].calls > 0;
    }
    if (rows && order == PROFILE_BY_TIME)
        qsort(rows, *count, sizeof *rows, by_time);
    return rows;
}

bool profile_event_outside(const json_t *event, size_t device, size_t index,
                           struct profile_row *row)
{
    static const struct {
        const char *key, *name;
    } parts[] = {{"operations_s", "all operations"},
                 {"input_s", "input"},
                 {"loss_s", "loss"},
                 {"optimizer_s", "optimizer"},
                 {"sync_s", "sync"},
                 {"wait_s", "wait"},
                 {"split_s", "split"},
                 {"metrics_s", "metrics"},
                 {"rest_s", "rest"}};
    size_t first, end;
    if (index >= sizeof parts / sizeof *parts)
        return false;
    *row =
        (struct profile_row){.layer = "", .kind = parts[index].name, .direction = "", .method = ""};
    range(event, device, &first, &end);
    for (size_t i = first; i < end; i++)
        row->seconds += member_positive(device_at(event, i), parts[index].key);
    finish(row, event, device);
    return true;
}
