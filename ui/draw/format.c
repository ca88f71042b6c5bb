/* SPDX-License-Identifier: MIT */
#include "ui/draw/format.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char *unknown(struct figure *figure)
{
    return strcpy(figure->text, "-");
}

const char *figure_count(struct figure *figure, double value)
{
    return figure_text_count(figure->text, value);
}

const char *figure_seconds(struct figure *figure, double seconds)
{
    return figure_text_seconds(figure->text, seconds);
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

const char *figure_short(struct figure *figure, double value)
{
    if (!isfinite(value))
        return unknown(figure);
    snprintf(figure->text, sizeof figure->text, "%.4g", value);
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
    if (!isfinite(fraction))
        return unknown(figure);
    snprintf(figure->text, sizeof figure->text, "%.0f%%", fmin(fmax(fraction, 0), 1) * 100);
    return figure->text;
}

const char *figure_duration(struct figure *figure, double seconds)
{
    long s;
    if (!isfinite(seconds) || seconds < 0 || seconds > 1e9)
        return unknown(figure);
    s = lround(seconds);
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

const char *figure_memory(struct figure *figure, double used, double total)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double of = isfinite(total) && total > 0 ? total : used;
    size_t i = 0;
    if (!isfinite(of))
        return unknown(figure);
    for (; fabs(of) >= 999.5 && i + 1 < sizeof unit / sizeof unit[0]; i++) {
        of /= 1024;
        used /= 1024;
    }
    of = fmin(of, 1e6);
    if (!isfinite(total) || total <= 0)
        snprintf(figure->text, sizeof figure->text, "%.*f %s", of < 99.95, of, unit[i]);
    else if (!isfinite(used))
        snprintf(figure->text, sizeof figure->text, "-/%.*f %s", of < 9.95, of, unit[i]);
    else
        snprintf(figure->text, sizeof figure->text, "%.*f/%.*f %s", used < 99.95, fmin(used, 1e6),
                 of < 9.95, of, unit[i]);
    return figure->text;
}
