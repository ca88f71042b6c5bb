/* SPDX-License-Identifier: MIT */
#include "base/figure.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *unknown(struct figure *figure)
{
    return strcpy(figure->text, "-");
}

/* Digits after the point for three digits in all. */
static int decimals_for(double value)
{
    value = fabs(value);
    return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

/* What decimals would show too little or nothing of; false: it is none of that. */
static bool put_special(struct figure *figure, double value)
{
    if (!isfinite(value))
        unknown(figure);
    else if (value == 0)
        strcpy(figure->text, "0");
    else if (fabs(value) < 0.0995)
        snprintf(figure->text, sizeof figure->text, "%#.2g", value);
    else
        return false;
    return true;
}

const char *figure_count(struct figure *figure, double value)
{
    static const char *const suffix[] = {"", "k", "M", "G", "T"};
    size_t i = 0;
    if (put_special(figure, value))
        return figure->text;
    for (; fabs(value) >= 999.5 && i + 1 < sizeof suffix / sizeof suffix[0]; i++)
        value /= 1000;
    if (fabs(value) >= 999.5)
        snprintf(figure->text, sizeof figure->text, "%.0e", value * 1e12);
    else
        snprintf(figure->text, sizeof figure->text, "%.*f%s", decimals_for(value), value,
                 suffix[i]);
    return figure->text;
}

const char *figure_seconds(struct figure *figure, double seconds)
{
    if (fabs(seconds) > 1e9)
        snprintf(figure->text, sizeof figure->text, "%.2e", seconds);
    else if (!put_special(figure, seconds))
        snprintf(figure->text, sizeof figure->text, "%.*f", decimals_for(seconds), seconds);
    return figure->text;
}

/* Three digits or four, and a unit out of `units` for each power of `base`. */
static const char *scaled(struct figure *figure, double value, double base,
                          const char *const *units, size_t count)
{
    size_t unit = 0;
    if (!isfinite(value))
        return unknown(figure);
    while (unit + 1 < count && fabs(value) >= 0.9995 * base) {
        value /= base;
        unit++;
    }
    int decimals = unit == 0 || fabs(value) >= 99.95 ? 0 : 1;
    snprintf(figure->text, sizeof figure->text, "%.*f %s", decimals, fmin(fmax(value, -1e9), 1e9),
             units[unit]);
    return figure->text;
}

static const char *const byte_units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

const char *figure_bytes(struct figure *figure, double bytes)
{
    return scaled(figure, bytes, 1024, byte_units, sizeof byte_units / sizeof *byte_units);
}

const char *figure_flop(struct figure *figure, double operations)
{
    static const char *const units[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"};
    return scaled(figure, operations, 1000, units, sizeof units / sizeof *units);
}

const char *figure_memory(struct figure *figure, double used, double total)
{
    double of = isfinite(total) && total > 0 ? total : used;
    size_t i = 0;
    if (!isfinite(of))
        return unknown(figure);
    for (; fabs(of) >= 999.5 && i + 1 < sizeof byte_units / sizeof *byte_units; i++) {
        of /= 1024;
        used /= 1024;
    }
    of = fmin(of, 1e6);
    if (!isfinite(total) || total <= 0)
        snprintf(figure->text, sizeof figure->text, "%.*f %s", of < 99.95, of, byte_units[i]);
    else if (!isfinite(used))
        snprintf(figure->text, sizeof figure->text, "-/%.*f %s", of < 9.95, of, byte_units[i]);
    else
        snprintf(figure->text, sizeof figure->text, "%.*f/%.*f %s", used < 99.95, fmin(used, 1e6),
                 of < 9.95, of, byte_units[i]);
    return figure->text;
}

const char *figure_whole(struct figure *figure, double value)
{
    if (!isfinite(value))
        return unknown(figure);
    snprintf(figure->text, sizeof figure->text, fabs(value) < 1e12 ? "%.0f" : "%.3e", value);
    return figure->text;
}

const char *figure_fixed(struct figure *figure, double value, int decimals)
{
    if (!isfinite(value))
        return unknown(figure);
    if (fabs(value) < 1e6)
        snprintf(figure->text, sizeof figure->text, "%.*f", decimals, value);
    else
        snprintf(figure->text, sizeof figure->text, "%.2e", value);
    return figure->text;
}

const char *figure_accuracy(struct figure *figure, double value)
{
    return figure_fixed(figure, value, 3);
}

const char *figure_accuracy_change(struct figure *figure, double value)
{
    if (!isfinite(value))
        return figure_fixed(figure, value, 3);
    snprintf(figure->text, sizeof figure->text, "%+.3f", value);
    return strcmp(figure->text + 1, "0.000") == 0 ? figure->text + 1 : figure->text;
}

const char *figure_digits(struct figure *figure, double value, int digits)
{
    if (!isfinite(value))
        return unknown(figure);
    snprintf(figure->text, sizeof figure->text, "%.*g", digits, value);
    return figure->text;
}

const char *figure_json(struct figure *figure, const json_t *number)
{
    if (!json_is_integer(number))
        return figure_digits(figure, json_number_value(number), 6);
    snprintf(figure->text, sizeof figure->text, "%" JSON_INTEGER_FORMAT,
             json_integer_value(number));
    return figure->text;
}

const char *figure_times(struct figure *figure, double value)
{
    if (!isfinite(value))
        return unknown(figure);
    snprintf(figure->text, sizeof figure->text, fabs(value) < 100 ? "%.2fx" : "%.3gx", value);
    return figure->text;
}

const char *figure_percent(struct figure *figure, double fraction)
{
    return figure_efficiency(figure, isfinite(fraction) ? fmin(fmax(fraction, 0), 1) : NAN);
}

const char *figure_efficiency(struct figure *figure, double fraction)
{
    if (!isfinite(fraction))
        return unknown(figure);
    snprintf(figure->text, sizeof figure->text, fabs(fraction) < 1e4 ? "%.0f%%" : "%.3g%%",
             fraction * 100);
    return figure->text;
}

const char *figure_duration(struct figure *figure, double seconds)
{
    if (!isfinite(seconds) || seconds < 0 || seconds > 1e9)
        return unknown(figure);
    long s = lround(seconds);
    if (s < 60)
        snprintf(figure->text, sizeof figure->text, "%lds", s);
    else if (s < 3600)
        snprintf(figure->text, sizeof figure->text, "%ldm%02lds", s / 60, s % 60);
    else if (s < 86400)
        snprintf(figure->text, sizeof figure->text, "%ldh%02ldm", s / 3600, s / 60 % 60);
    else
        snprintf(figure->text, sizeof figure->text, "%ldd%02ldh", s / 86400, s / 3600 % 24);
    return figure->text;
}

const char *figure_date(struct figure *figure, double seconds)
{
    struct tm local;
    time_t time = isfinite(seconds) && fabs(seconds) < 1e15 ? (time_t)seconds : 0;
    if (!isfinite(seconds) || !localtime_r(&time, &local) ||
        strftime(figure->text, sizeof figure->text, "%Y-%m-%d %H:%M", &local) == 0)
        return unknown(figure);
    return figure->text;
}
