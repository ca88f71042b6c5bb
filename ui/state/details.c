/* SPDX-License-Identifier: MIT */
#include "ui/state/details.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ui/state/curve.h"
#include "ui/state/read.h"

static void release(struct run_details *details)
{
    for (int i = 0; i < details->setting_count; i++)
        free(details->settings[i].value);
    free(details->error);
    json_decref(details->warnings);
    json_decref(details->shares);
    json_decref(details->profile);
    json_decref(details->timeline);
    free(details->epochs);
    measure_free(&details->measure);
}

void details_begin(struct run_details *details, long run)
{
    release(details);
    *details = (struct run_details){
        .run = run, .params = NAN, .checkpoint_steps = NAN, .checkpoint_at = NAN};
}

void details_free(struct run_details *details)
{
    details_begin(details, 0);
}

/* A setting's value as text; the caller frees it. NULL only when memory ran out. */
static char *value_text(const json_t *value)
{
    char number[40];
    if (json_is_string(value))
        return strdup(json_string_value(value));
    if (json_is_boolean(value))
        return strdup(json_is_true(value) ? "yes" : "no");
    if (json_is_integer(value))
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        snprintf(number, sizeof number, "%.6g", json_real_value(value));
    else
        number[0] = '\0';
    return strdup(number);
}

/* With its origin if nobody gave it: "0.05 (recipe)". Likewise. */
static char *setting_text(const json_t *spec, const char *key, const json_t *value)
{
    const char *origin = json_string_value(json_object_get(json_object_get(spec, "origins"), key));
    char *plain = value_text(value);
    if (!plain || !origin || strcmp(origin, "given") == 0)
        return plain;
    char *text = text_format("%s (%s)", plain, origin);
    free(plain);
    return text;
}

static bool read_settings(struct run_details *details, const json_t *spec, struct error *err)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)spec, key, value)
    {
        if (details->setting_count == DETAILS_SETTINGS)
            break;
        if (json_is_object(value))
            continue;
        struct detail_setting *setting = &details->settings[details->setting_count];
        if (!(setting->value = setting_text(spec, key, value)))
            return error_memory(err, "a run's settings");
        details->setting_count++;
        snprintf(setting->name, sizeof setting->name, "%s", key);
        for (char *c = setting->name; *c != '\0'; c++)
            if (*c == '_')
                *c = '-';
    }
    return true;
}

static int read_devices(const json_t *array, struct detail_device *devices)
{
    int count = 0;
    for (size_t i = 0; i < json_array_size(array) && count < DETAILS_DEVICES; i++) {
        const json_t *object = json_array_get(array, i);
        struct detail_device *device = &devices[count];
        read_text(object, "device", device->name, sizeof device->name);
        if (device->name[0] == '\0')
            continue;
        device->rows = read_amount(object, "rows");
        device->samples_per_s = read_amount(object, "samples_per_s");
        device->compute_s = read_amount(object, "compute_s");
        device->sync_s = read_amount(object, "sync_s");
        device->wait_s = read_amount(object, "wait_s");
        count++;
    }
    return count;
}

bool details_epoch(struct run_details *details, const json_t *event, struct error *err)
{
    struct detail_device devices[DETAILS_DEVICES];
    struct epoch_point epoch;
    if (!read_epoch(event, &epoch))
        return true;
    int count = read_devices(json_object_get(event, "devices"), devices);
    bool newest =
        details->epoch_count == 0 || details->epochs[details->epoch_count - 1].epoch <= epoch.epoch;
    if (newest && count > 0) {
        memcpy(details->devices, devices, sizeof devices[0] * (size_t)count);
        details->device_count = count;
    }
    if (details->measure.count < STATE_MAX_POINTS && !measure_add(&details->measure, event, err))
        return false;
    return curve_add_point(&details->epochs, &details->epoch_count, &details->epoch_capacity,
                           STATE_MAX_POINTS, &epoch, err);
}

/* Each device in turn, but those that are like the one before only once. */
static void read_types(const json_t *result, char *buffer, size_t size)
{
    const json_t *types = json_object_get(result, "types");
    const json_t *devices = json_object_get(result, "devices");
    const char *before = "";
    size_t used = 0;
    for (size_t i = 0; i < json_array_size(types) && used < size; i++) {
        const char *name = json_string_value(json_array_get(devices, i));
        const char *type = json_string_value(json_array_get(types, i));
        if (!name || !type || strcmp(type, before) == 0)
            continue;
        used += (size_t)snprintf(buffer + used, size - used, "%s%s from %s on", i > 0 ? ", " : "",
                                 type, name);
        before = type;
    }
    if (used > 0 && !strchr(buffer, ','))
        snprintf(buffer, size, "%s", before);
}

bool details_timeline(struct run_details *details, const json_t *event, struct error *err)
{
    json_decref(details->timeline);
    details->timeline = json_deep_copy(event);
    return details->timeline || error_memory(err, "the steps of a run");
}

bool details_show(struct run_details *details, const json_t *result, struct error *err)
{
    const json_t *epochs = json_object_get(result, "epochs");
    const json_t *thinned = json_object_get(result, "thinned");
    const char *error = json_string_value(json_object_get(result, "error"));
    if (details->run == 0 || read_run_number(result) != details->run)
        return true;
    details_begin(details, details->run);
    if (error && !(details->error = strdup(error)))
        return error_memory(err, "a run's error");
    details->warnings = json_incref(json_object_get(result, "warnings"));
    details->shares = json_incref(json_object_get(result, "shares"));
    details->profile = json_incref(json_object_get(result, "profile"));
    details->timeline = json_incref(json_object_get(result, "timeline"));
    details->checkpoint_steps = read_amount(json_object_get(result, "checkpoint"), "steps");
    details->checkpoint_at = read_amount(json_object_get(result, "checkpoint"), "time");
    read_types(result, details->types, sizeof details->types);
    measure_read_devices(&details->measure, result);
    details->params = read_amount(result, "params");
    details->epochs_kept = fmax(read_amount(thinned, "kept"), 0);
    details->epochs_of = fmax(read_amount(thinned, "of"), 0);
    if (!read_settings(details, json_object_get(result, "spec"), err))
        return false;
    for (size_t i = 0; i < json_array_size(epochs); i++)
        if (!details_epoch(details, json_array_get(epochs, i), err))
            return false;
    if (details->device_count == 0)
        details->device_count =
            read_devices(json_object_get(result, "device_figures"), details->devices);
    details->known = true;
    return true;
}

int details_best(const struct run_details *details)
{
    int best = -1;
    for (int i = 0; i < details->epoch_count; i++) {
        double test_acc = details->epochs[i].value[METRIC_TEST_ACC];
        if (isfinite(test_acc) &&
            (best < 0 || test_acc > details->epochs[best].value[METRIC_TEST_ACC]))
            best = i;
    }
    return best;
}

double details_noise(const struct run_details *details)
{
    return points_newest(details->epochs, details->epoch_count, METRIC_NOISE);
}

int details_slowest(const struct run_details *details)
{
    double sum = 0;
    int slowest = -1;
    for (int i = 0; i < details->device_count; i++) {
        double compute = details->devices[i].compute_s;
        if (!isfinite(compute))
            return -1;
        sum += compute;
        if (slowest < 0 || compute > details->devices[slowest].compute_s)
            slowest = i;
    }
    if (slowest < 0 || details->devices[slowest].compute_s * details->device_count <= 1.02 * sum)
        return -1;
    return slowest;
}
