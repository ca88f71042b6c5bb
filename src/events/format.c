/* SPDX-License-Identifier: MIT */
#include "events/format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/figure.h"
#include "base/json.h"
#include "base/text.h"
#include "spec/spec.h"

static const char *unknown(char *buffer)
{
    return strcpy(buffer, "-");
}

/* Three digits or four, and a unit out of `units` for each power of `base`. */
static const char *scaled(char *buffer, double value, double base, const char *const *units,
                          size_t count)
{
    size_t unit = 0;
    if (!isfinite(value))
        return unknown(buffer);
    while (unit + 1 < count && fabs(value) >= 0.9995 * base) {
        value /= base;
        unit++;
    }
    int decimals = unit == 0 || fabs(value) >= 99.95 ? 0 : 1;
    snprintf(buffer, FORMAT_SIZE, "%.*f %s", decimals, value, units[unit]);
    return buffer;
}

const char *format_bytes(char *buffer, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    return scaled(buffer, bytes, 1024, units, sizeof units / sizeof *units);
}

const char *format_flop(char *buffer, double operations)
{
    static const char *const units[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"};
    return scaled(buffer, operations, 1000, units, sizeof units / sizeof *units);
}

const char *format_count(char *buffer, double count)
{
    return figure_text_count(buffer, count);
}

const char *format_time(char *buffer, double seconds)
{
    if (!isfinite(seconds) || seconds < 0 || seconds > 1e9)
        return unknown(buffer);
    long whole = lround(seconds);
    if (whole < 60)
        snprintf(buffer, FORMAT_SIZE, "%lds", whole);
    else if (whole < 3600)
        snprintf(buffer, FORMAT_SIZE, "%ldm%02lds", whole / 60, whole % 60);
    else if (whole < 48 * 3600)
        snprintf(buffer, FORMAT_SIZE, "%ldh%02ldm", whole / 3600, whole / 60 % 60);
    else
        snprintf(buffer, FORMAT_SIZE, "%ldd%02ldh", whole / 86400, whole / 3600 % 24);
    return buffer;
}

const char *format_seconds(char *buffer, double seconds)
{
    return figure_text_seconds(buffer, seconds);
}

const char *format_fixed(char *buffer, double value, int decimals)
{
    if (!isfinite(value))
        return unknown(buffer);
    snprintf(buffer, FORMAT_SIZE, "%.*f", decimals, value);
    return buffer;
}

const char *format_date(char *buffer, double seconds)
{
    struct tm local;
    time_t time = isfinite(seconds) ? (time_t)seconds : 0;
    if (!isfinite(seconds) || !localtime_r(&time, &local) ||
        strftime(buffer, FORMAT_SIZE, "%Y-%m-%d %H:%M", &local) == 0)
        return unknown(buffer);
    return buffer;
}

const char *format_general(char *buffer, double value)
{
    if (!isfinite(value))
        return unknown(buffer);
    snprintf(buffer, FORMAT_SIZE, "%.6g", value);
    return buffer;
}

double member_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *member_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "-";
}

char *run_devices_text(const json_t *run)
{
    const json_t *names = json_object_get(run, "devices");
    struct device_list list;
    struct error ignored = ERROR_INIT;
    struct text joined = TEXT_INIT;
    if (json_array_size(names) == 0)
        return NULL;
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        text_printf(&joined, "%s%s", i ? "," : "", name ? name : "?");
    }
    const char *text = text_cstr(&joined);
    char *devices =
        text && device_list_parse(text, &list, &ignored) ? device_list_text(&list) : NULL;
    text_free(&joined);
    return devices;
}

const char *format_devices(char *buffer, size_t size, const json_t *run)
{
    char *devices = run_devices_text(run);
    int length = snprintf(buffer, size, "%s", devices ? devices : "-");
    if (length >= (int)size)
        strcpy(buffer + size - 4, "...");
    free(devices);
    return buffer;
}

const char *format_device_names(char *buffer, size_t size, const json_t *list)
{
    size_t count = json_array_size(list), used = 1;
    snprintf(buffer, size, "[");
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        char more[64];
        /* Room for the end of the list is kept. */
        snprintf(more, sizeof more, "%s%s", i ? ", " : "", name ? name : "?");
        if (used + strlen(more) + 16 > size) {
            snprintf(buffer + used, size - used, ", %zu more", count - i);
            used = strlen(buffer);
            break;
        }
        strcpy(buffer + used, more);
        used += strlen(more);
    }
    snprintf(buffer + used, size - used, "]");
    return buffer;
}

void print_json(const json_t *value)
{
    json_to_file(value, stdout, JSON_INDENT(1) | JSON_DIGITS);
    putchar('\n');
}
